import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * Addresses that lead to no public host: this machine, private networks, link-local ones (among them the clouds' metadata service),
 * documentation, multicast. Source: the IANA special-purpose address registries (RFC 6890).
 */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
}

/** Of version 6 only global unicast is public, and in it nothing that carries another address inside (Teredo, 6to4). */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet("2000::", 3, "ipv6");
const NOT_PUBLIC_V6 = new BlockList();
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  NOT_PUBLIC_V6.addSubnet(network, prefix, "ipv6");
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !NOT_PUBLIC.check(address, "ipv4");
  return isIPv6(address) && GLOBAL_V6.check(address, "ipv6") && !NOT_PUBLIC_V6.check(address, "ipv6");
}

export function isLoopback(address: string): boolean {
  if (isIPv4(address)) return LOOPBACK.check(address, "ipv4");
  return isIPv6(address) && LOOPBACK.check(address, "ipv6");
}
