import net from 'node:net';

const installed = Symbol.for('relayger.refuse-network');
const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/**
 * Makes every TCP and TLS connection of this process to another machine fail, fetch and pg included: they all end in
 * this one method. A test that needs the internet is a test that fails on a train.
 */
export function refuseOutboundNetwork() {
  const { connect } = net.Socket.prototype;
  if (connect[installed]) return;
  net.Socket.prototype.connect = function refuseOthers(...args) {
    const target = destination(args);
    if (target === undefined || loopback.test(target)) return connect.apply(this, args);
    const error = new Error(`Tests have no outbound network, refused a connection to ${target}`);
    process.nextTick(() => this.destroy(error));
    return this;
  };
  net.Socket.prototype.connect[installed] = true;
}

/** The host of `connect(options)`, `connect(port, host)` or Node's internal `connect([options, callback])`. */
function destination([first, second]) {
  const options = Array.isArray(first) ? first[0] : first;
  if (typeof options === 'object') return options.path ? undefined : options.host;
  return typeof second === 'string' ? second : undefined;
}
