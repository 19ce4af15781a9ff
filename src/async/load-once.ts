/**
 * Runs `load` when it is first needed and gives the same promise from then on: importing a module that
 * is loaded already still costs as much as opening a connection. A failure is not remembered.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
