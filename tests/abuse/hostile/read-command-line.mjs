// @ts-check

/**
 * The mode a hostile server was started in and its parameters: `<mode> [name=value …]`. Ends the
 * process when there is no such mode.
 *
 * @template Mode
 * @param {Readonly<Record<string, Mode>>} modes
 * @returns {{ name: string, mode: Mode, parameters: Record<string, any> }} numbers where they look like numbers
 */
export function readCommandLine(modes) {
  const [name = "", ...settings] = process.argv.slice(2);
  const mode = modes[name];
  if (mode === undefined) {
    const known = Object.keys(modes).join(", ");
    process.stderr.write(`There is no mode "${name}"; there are: ${known}\n`);
    process.exit(2);
  }
  const parameters = Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf("=");
      const value = setting.slice(at + 1);
      return [setting.slice(0, at), /^\d+(e\d+)?$/.test(value) ? Number(value) : value];
    }),
  );
  return { name, mode, parameters };
}
