// @ts-check
// Imported first by every script, so that an old Node meets one sentence instead of a syntax error.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `Plugboard needs Node 20.19 or newer; this is Node ${process.versions.node}. Install a newer Node and run the command again.\n`,
  );
  process.exit(1);
}
