import fc from 'fast-check';
import { clientAddress, clientBlock, parseRanges } from '../src/http/client-address.js';

const PROXIES = ['10.0.0.0/8', '192.0.2.7', '2001:db8:ffff::/48', '::1'];
const trusted = parseRanges(PROXIES);

test.each([
  // peer, X-Forwarded-For, client
  ['203.0.113.9', undefined, '203.0.113.9'],
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', ' , ,', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1,192.0.2.7,  10.9.9.9', '198.51.100.1'],
  ['192.0.2.7', '198.51.100.1', '198.51.100.1'],
  ['192.0.2.8', '198.51.100.1', '192.0.2.8'],
  // All hops are ours: the left-most one is as near to the client as we know.
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  // An IPv4 client on a dual-stack socket is the same client.
  ['::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['::ffff:203.0.113.9', undefined, '203.0.113.9'],
  ['::1', '2001:db8::5', '2001:db8::5'],
  ['2001:db8:ffff:1::1', '2001:DB8:0:0::5', '2001:db8::5'],
  ['2001:db8:fffe::1', '198.51.100.1', '2001:db8:fffe::1'],
  // What is no address is never a client, and what stands behind it is not read.
  ['10.0.0.1', 'unknown', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1, nonsense', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1:443', '10.0.0.1'],
  ['10.0.0.1', "1.1.1.1' OR 1=1", '10.0.0.1'],
  ['10.0.0.1', '[2001:db8::5]', '10.0.0.1'],
])('a connection from %s that forwards %j comes from %s', (peer, forwarded, client) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(client);
});

test('without trusted proxies the header is never read', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (peer, forwarded) => {
      expect(clientAddress(peer, forwarded, [])).toBe(peer);
    }),
  );
});

test('the client is the first hop from the right that is not ours, whatever stands left of it', () => {
  const ours = fc.integer({ min: 0, max: 255 }).map((n) => `10.0.0.${n}`);
  const other = fc.integer({ min: 0, max: 255 }).map((n) => `198.51.100.${n}`);
  fc.assert(
    fc.property(
      fc.array(fc.string()),
      other,
      fc.array(ours),
      ours,
      (invented, client, hops, peer) => {
        const forwarded = [
          ...invented.map((text) => text.replaceAll(',', '')),
          client,
          ...hops,
        ].join(', ');
        expect(clientAddress(peer, forwarded, trusted)).toBe(client);
      },
    ),
  );
});

test.each([
  ['198.51.100.1', '198.51.100.1'],
  ['::ffff:198.51.100.1', '198.51.100.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
])('attempts from %s are counted for %s', (address, block) => {
  expect(clientBlock(address)).toBe(block);
});
