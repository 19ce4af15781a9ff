const tellingName = /key|token|secret|pass|auth(?!or)|credential|cookie|session|private/i;
const harmlessName =
  /(?:^|[_-])(?:path|dir|directory|home|root|file|folder|lang|locale|port|host|mode|level|env|debug|region|tz|user|shell|term|timeout|accept|type|agent|version)$/i;
const bareOrigin = /^https?:\/\/[^/?#@]+\/?$/;

/**
 * Whether the value of a variable, header or setting called `name` must be kept out of logs. Anything
 * is a secret that is not known to be harmless: a masked word costs less than a leaked one.
 */
export function isSecretValue(name: string, value: string): boolean {
  if (tellingName.test(name)) return value.length >= 4;
  return value.length >= 8 && !harmlessName.test(name) && !bareOrigin.test(value);
}
