/** No secret has a name that begins so: such rows are the vault's own. */
export const reservedPrefix = "vault/";

/** The id of the row that holds the data key. */
export const keyRowId = `${reservedPrefix}key`;
