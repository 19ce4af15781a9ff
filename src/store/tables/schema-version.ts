/** The version of the tables that `migrations.ts` ends with. Apart from it: an up-to-date store needs none of its steps. */
export const latestVersion = 6;
