// Imported before anything else: the one clear line instead of a syntax error. Stays within what Node 14 understands.
const OLDEST = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(`Relayger needs Node ${OLDEST.join('.')} or later, this is ${process.version}.`);
  process.exit(1);
}
