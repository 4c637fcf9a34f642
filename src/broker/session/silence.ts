export interface Peer {
  lastHeardMs: number;
  /** Its session ends after this much silence. */
  silenceMaxMs: number;
}

export interface Tick {
  nowMs: number;
  previousMs: number;
  intervalMs: number;
}

/** The tick came later than a whole interval: this process stalled. */
export function isLate(tick: Tick): boolean {
  return lateMs(tick) > tick.intervalMs;
}

function lateMs({ nowMs, previousMs, intervalMs }: Tick): number {
  return nowMs - previousMs - intervalMs;
}

/**
 * Peers that were silent for too long. A late tick means that this process slept, not that they died: Node
 * runs timers before it reads sockets, so after a stall every peer looks dead while its pings wait to be
 * read, or are still on their way from this very process. Such a tick ends no session, and the time of the
 * stall is no silence of theirs.
 */
export function expiredPeers<P extends Peer>(peers: Iterable<P>, tick: Tick): P[] {
  const all = [...peers];
  if (!isLate(tick)) return all.filter((peer) => tick.nowMs - peer.lastHeardMs > peer.silenceMaxMs);
  for (const peer of all) peer.lastHeardMs = Math.min(peer.lastHeardMs + lateMs(tick), tick.nowMs);
  return [];
}
