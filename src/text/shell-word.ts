const plain = /^[\w@%+=:,./-]+$/;

/**
 * One word for a POSIX shell, whatever it is made of. People copy the commands they are shown, and names
 * in them are chosen by strangers: `x; curl … | sh` has to stay a name.
 */
export function shellWord(text: string): string {
  return plain.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
