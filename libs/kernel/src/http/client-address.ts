import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Reads TRUSTED_PROXIES; a bare address is a block of one. */
export function parseRanges(blocks: readonly string[]): Range[] {
  return blocks.map((block) =>
    block.includes('/')
      ? ipaddr.parseCIDR(block)
      : [ipaddr.process(block), ipaddr.process(block).kind() === 'ipv4' ? 32 : 128],
  );
}

function isTrusted(address: string, ranges: readonly Range[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(
    ([block, bits]) => parsed.kind() === block.kind() && parsed.match(block as ipaddr.IPv4, bits),
  );
}

/**
 * The address of the client: the right-most hop that is not one of our own proxies. Everything further left was
 * written by the client itself, so it proves nothing.
 * @param peer address of the TCP connection
 * @param forwardedFor the X-Forwarded-For header, read only when the peer is a trusted proxy
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: readonly Range[],
): string {
  const hops = (forwardedFor ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  let address = peer;
  while (hops.length > 0 && isTrusted(address, trusted)) address = hops.pop() as string;
  // A proxy that forwards nonsense leaves us with its own address rather than with the nonsense.
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : peer;
}

/**
 * What one client is when attempts are counted: its IPv4 address, or the /64 block of its IPv6 address, of which
 * every home and every rented server has a whole one to hop about in.
 */
export function clientBlock(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
