/** The one revision with batches names no bound; no client of ours ever asks for that many answers at once. */
export const maxBatchMessages = 1_000;
