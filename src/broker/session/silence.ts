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
  return tick.nowMs - tick.previousMs - tick.intervalMs > tick.intervalMs;
}

/**
 * Peers that were silent for too long. A late tick means that this process slept, not that they died: Node
 * runs timers before it reads sockets, so after a stall every peer looks dead while its pings wait to be
 * read. Such a tick ends no session; the next one does.
 */
export function expiredPeers<P extends Peer>(peers: Iterable<P>, tick: Tick): P[] {
  if (isLate(tick)) return [];
  return [...peers].filter((peer) => tick.nowMs - peer.lastHeardMs > peer.silenceMaxMs);
}
