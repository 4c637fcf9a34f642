import type { SparseTrace } from '../base/sparse-trace.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import type { PeerId } from '../transport/port.js';
import {
  Command,
  PartReader,
  headBytes,
  protocolVersion,
  type Decoded,
  type Frame,
} from '../wire/frame.js';
import { commandTable } from './commands/table.js';
import type { BrokerCore } from './core.js';
import type { StrangerRates } from './session/rate-limit.js';
import type { SessionHandler } from './session/session-handler.js';
import type { Session } from './session/sessions.js';
import type { Writer } from './writer.js';

interface IncomingParts {
  core: BrokerCore;
  sessionHandler: SessionHandler;
  strangerRates: StrangerRates;
  writer: Writer;
  trace: Trace;
  /** For what a peer can cause again and again. */
  sparse: SparseTrace;
}

/** What comes in: checks and rates first, then the session machine, or the command of a live session. */
export class Incoming {
  readonly #parts: IncomingParts;
  readonly #core: BrokerCore;
  readonly #writer: Writer;
  frames = 0;
  framesCorrupt = 0;

  constructor(parts: IncomingParts) {
    this.#parts = parts;
    this.#core = parts.core;
    this.#writer = parts.writer;
  }

  /** All that a part brings is done when this returns, but for what waits for the disk. Never throws. */
  onPart(peer: PeerId, part: Buffer): void {
    const nowMs = this.#core.clock.monotonicMs();
    const reader = new PartReader(part);
    for (let decoded = reader.next(); decoded !== undefined; decoded = reader.next()) {
      this.frames += 1;
      const session = this.#core.sessions.of(peer);
      try {
        const retryAfterMs = this.#charge(peer, session, decoded, nowMs);
        if (retryAfterMs > 0) {
          const isOver = this.#onTooMuch(peer, session, decoded, retryAfterMs);
          if (isOver) return;
        } else if (decoded.ok) this.#onFrame(peer, session, decoded.frame, nowMs);
        else this.#onCorrupt(peer, session, decoded);
      } catch (error) {
        // One bad frame must not end the loop that serves all peers.
        this.#parts.sparse.log('error', 'a frame could not be handled', {
          detail: asBusError(error).message,
        });
      }
    }
  }

  /** Charges the rate limit; 0: allowed, else milliseconds to wait. A session that is not live has a stranger's rate and no sign of life. */
  #charge(peer: PeerId, session: Session | undefined, decoded: Decoded, nowMs: number): number {
    const bytes = decoded.ok ? decoded.frame.body.length + headBytes : headBytes;
    if (session?.snapshot.value !== 'live')
      return this.#parts.strangerRates.take(peer, 1, bytes, nowMs);
    session.lastHeardMs = nowMs;
    const retryAfterMs = session.rate.take(1, bytes, nowMs);
    // A GOODBYE is never rate-limited: the peer sends less afterwards.
    return decoded.ok && decoded.frame.command === Command.GOODBYE ? 0 : retryAfterMs;
  }

  /** True: the rest of this part is skipped. A stranger gets one rejection per part, without the ids of an earlier session. */
  #onTooMuch(
    peer: PeerId,
    session: Session | undefined,
    decoded: Decoded,
    retryAfterMs: number,
  ): boolean {
    const isLive = session?.snapshot.value === 'live';
    const command = decoded.ok ? decoded.frame.command : undefined;
    const isNamed = isLive || command === Command.HELLO || command === Command.PROOF;
    const id = decoded.ok ? decoded.frame.envelope.id : decoded.id;
    const agent = session?.agent ?? 'a stranger';
    const tooMuch = new BusError('RATE_LIMITED', { agent, retryAfterMs });
    this.#writer.reject(peer, isNamed ? id : '', tooMuch);
    return !isLive;
  }

  #onCorrupt(
    peer: PeerId,
    session: Session | undefined,
    decoded: { corruption: string; id: string; version: number },
  ): void {
    this.framesCorrupt += 1;
    const { corruption, id, version: got } = decoded;
    this.#parts.sparse.log('warn', 'a frame was corrupt', { part: corruption });
    if (corruption === 'version') {
      const version = new BusError('VERSION', { got, supported: protocolVersion });
      return this.#writer.reject(peer, '', version);
    }
    if (id !== '')
      return this.#writer.reject(peer, id, new BusError('FRAME_CORRUPT', { part: corruption }));
    if (session === undefined) return this.#writer.reset(peer, 'FRAME_CORRUPT');
    this.#parts.sessionHandler.step(session, { type: 'frame.corrupt' });
  }

  #onFrame(peer: PeerId, session: Session | undefined, frame: Frame, nowMs: number): void {
    const { sessionHandler } = this.#parts;
    const { command } = frame;
    if (command === Command.HELLO) return sessionHandler.onHello(peer, session, frame);
    if (session === undefined) return this.#writer.reset(peer, 'UNKNOWN_SESSION');
    if (command === Command.GOODBYE) return sessionHandler.step(session, { type: 'peer.left' });
    if (command === Command.PROOF) return sessionHandler.onProof(session, frame);
    const run = commandTable[command];
    const state = session.snapshot.value;
    if (state !== 'live' || run === undefined) {
      const event = Command[command] || `command ${command}`;
      const unexpected = new BusError('PROTOCOL_UNEXPECTED_EVENT', { event, state });
      return this.#writer.reject(peer, frame.envelope.id, unexpected);
    }
    if (frame.body.length > this.#core.limits.bodyBytesSoft)
      this.#logLargeBody(session, frame, nowMs);
    try {
      run(this.#core, session, frame)?.catch((error: unknown) =>
        this.#refuse(session, frame, error),
      );
    } catch (error) {
      this.#refuse(session, frame, error);
    }
  }

  /** A large body delays every frame behind it; it should travel as a blob. */
  #logLargeBody(session: Session, frame: Frame, nowMs: number): void {
    const { bodyBytesSoft: limit, largeLogMs } = this.#core.limits;
    if (nowMs - session.largeLoggedMs < largeLogMs) return;
    session.largeLoggedMs = nowMs;
    const { agent } = session;
    const bytes = frame.body.length;
    this.#parts.trace('warn', 'a large message; share it as a blob', { agent, bytes, limit });
  }

  #refuse(session: Session, frame: Frame, error: unknown): void {
    const coded = asBusError(error);
    if (coded.code === 'INTERNAL')
      this.#parts.trace('error', 'a command failed', {
        command: Command[frame.command],
        detail: coded.message,
      });
    if (frame.command === Command.SEND)
      this.#core.audit('refused', session, frame.envelope.to, frame, coded.code);
    this.#writer.reject(session.peer, frame.envelope.id, coded);
  }
}
