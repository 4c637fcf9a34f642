import { createHash } from 'node:crypto';
import type { Weighted } from './shard-partition.js';

/** A process that serves what falls to it. */
export interface Room {
  id: string;
  /** Memory for open shards. */
  bytes: number;
}

/** A host gets at most so many times its share. */
const overShare = 1.25;
/** Bits of a digest that a double holds exactly. */
const drawBits = 48;

/**
 * Which host serves each shard: by alias the id of the host. Each shard goes to the host that draws highest for it, weighted by its
 * room (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998), and with it has not much more than its share
 * (Mirrokni, Thorup and Zadimoghaddam, "Consistent hashing with bounded loads", 2018). So each host computes the same, and when one
 * comes or goes few shards move that need not. Empty without hosts.
 */
export function placed(
  shards: readonly Weighted[],
  hosts: readonly Room[],
): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const weighted = shards
    .map(({ alias, lines }) => ({ alias, weight: Math.max(1, lines ?? 1) }))
    .sort((a, b) => b.weight - a.weight || (a.alias < b.alias ? -1 : 1));
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  const room = hosts.reduce((sum, { bytes }) => sum + bytes, 0);
  const loads = new Map(hosts.map(({ id }) => [id, 0]));
  for (const { alias, weight } of weighted) {
    const drawn = hosts
      .map((host) => ({ host, score: scoreOf(host, alias) }))
      .sort((a, b) => b.score - a.score || (a.host.id < b.host.id ? -1 : 1));
    const fits = drawn.find(
      ({ host: { id, bytes } }) =>
        (loads.get(id) ?? 0) + weight <= (overShare * total * bytes) / room,
    );
    const { host } = fits ?? freest(drawn, loads) ?? {};
    if (host === undefined) break;
    places.set(alias, host.id);
    loads.set(host.id, (loads.get(host.id) ?? 0) + weight);
  }
  return places;
}

type Drawn = readonly { host: Room }[];

/** For a shard that is more than any host's share: that with the least for its room. */
function freest(drawn: Drawn, loads: ReadonlyMap<string, number>): Drawn[number] | undefined {
  const fullness = ({ host: { id, bytes } }: Drawn[number]): number => (loads.get(id) ?? 0) / bytes;
  return [...drawn].sort((a, b) => fullness(a) - fullness(b))[0];
}

/** `-bytes / ln(u)` for a draw u in (0, 1): a host with twice the room wins twice as often. */
function scoreOf({ id, bytes }: Room, alias: string): number {
  const digest = createHash('sha256').update(`${id}\0${alias}`).digest();
  const draw = (digest.readUIntBE(0, drawBits / 8) + 0.5) / 2 ** drawBits;
  return -bytes / Math.log(draw);
}
