import { Reply } from 'zeromq';
import { noTrace, type Trace } from '../base/trace.js';
import { BusError } from '../errors/bus-error.js';
import { z85 } from './z85.js';
import { isTold } from './refusals.js';

/** RFC 27 fixes the address: one gate per process, for all its listeners. */
const zapAddress = 'inproc://zeromq.zap.01';
const zapVersion = '1.0';
const publicKeyBytes = 32;
/** An earlier gate of this process frees the address on a thread of libzmq: after its `close`, not in it. */
const bindAttemptsMax = 100;
const bindRetryMs = 10;

/** malformed: not a CURVE request of libzmq. failed: `isAllowed` threw. */
export type ZapRefusal = 'unknown-key' | 'malformed' | 'failed';

/**
 * Decides who may connect over tcp, by public key. It does not say who that is: zeromq.js shows no
 * connection's key, so the agent behind it proves itself in its greeting.
 */
export class ZapGate implements AsyncDisposable {
  /** Named by the listeners and enforced, so that without a gate every connection is refused. */
  static readonly domain = 'sigma-bus';
  readonly #socket: Reply;
  readonly #isAllowed: (publicKey: string) => boolean;
  readonly #onRefused: (reason: ZapRefusal, address: string) => void;
  readonly #trace: Trace;
  readonly #refused: Record<ZapRefusal, number> = { 'unknown-key': 0, malformed: 0, failed: 0 };
  #isClosing = false;

  private constructor(socket: Reply, parts: ZapGateParts) {
    this.#socket = socket;
    this.#isAllowed = parts.isAllowed;
    this.#onRefused = parts.onRefused ?? (() => undefined);
    this.#trace = parts.trace ?? noTrace;
  }

  /** Open it before the listeners, close it after them. Throws BROKER_RUNNING: this process has one already. */
  static async open(parts: ZapGateParts): Promise<ZapGate> {
    const socket = new Reply({ sendTimeout: 0, linger: 0 });
    try {
      await bindRetrying(socket);
    } catch (error) {
      socket.close();
      throw new BusError('BROKER_RUNNING', { path: zapAddress }, { cause: error });
    }
    const gate = new ZapGate(socket, parts);
    void gate.#serve();
    return gate;
  }

  refusals(): Readonly<Record<ZapRefusal, number>> {
    return { ...this.#refused };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#socket.close();
    return Promise.resolve();
  }

  async #serve(): Promise<void> {
    try {
      for await (const request of this.#socket) await this.#answer(request);
    } catch (error) {
      // A pending receive ends with an error when its socket is closed; any other is a bug.
      if (!this.#isClosing) throw error;
    }
  }

  /** RFC 27: version, request id, status code, status text, user id, metadata. */
  async #answer(request: Buffer[]): Promise<void> {
    const verdict = this.#verdictOn(request);
    const status = verdict === 'allowed' ? ['200', ''] : [statusOf(verdict), verdict];
    const id = request[1] ?? Buffer.alloc(0);
    try {
      await this.#socket.send([zapVersion, id, ...status, '', '']);
    } catch (error) {
      // The socket is gone. Without an answer libzmq refuses the connection.
      if (!this.#isClosing)
        this.#trace('debug', 'a connection was gone before it was answered', {
          detail: error instanceof Error ? error.message : String(error),
        });
    }
  }

  /** RFC 27: version, request id, domain, address, identity, mechanism, and for CURVE the public key. */
  #verdictOn(request: Buffer[]): 'allowed' | ZapRefusal {
    const [version, , domain, address, , mechanism, key] = request;
    const from = address?.toString('latin1') ?? '';
    if (
      version?.toString('latin1') !== zapVersion ||
      domain?.toString('latin1') !== ZapGate.domain ||
      mechanism?.toString('latin1') !== 'CURVE' ||
      key?.length !== publicKeyBytes
    )
      return this.#refuse('malformed', from);
    try {
      return this.#isAllowed(z85(key)) ? 'allowed' : this.#refuse('unknown-key', from);
    } catch (error) {
      this.#trace('error', 'allowed keys cannot be read', {
        detail: error instanceof Error ? error.message : String(error),
      });
      return this.#refuse('failed', from);
    }
  }

  #refuse(reason: ZapRefusal, address: string): ZapRefusal {
    const count = (this.#refused[reason] += 1);
    if (isTold(count))
      this.#trace('warn', 'a connection was refused', {
        code: 'CURVE_REFUSED',
        reason,
        address,
        count,
      });
    this.#onRefused(reason, address);
    return reason;
  }
}

export interface ZapGateParts {
  /** By public key in Z85; called once per connection. */
  isAllowed: (publicKey: string) => boolean;
  /** Must not throw. `address` is the peer's IP address. */
  onRefused?: (reason: ZapRefusal, address: string) => void;
  trace?: Trace;
}

/** 400 is final and sent to the client; 500 is a fault of ours. */
function statusOf(reason: ZapRefusal): string {
  return reason === 'failed' ? '500' : '400';
}

async function bindRetrying(socket: Reply): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await socket.bind(zapAddress);
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE' || attempt === bindAttemptsMax)
        throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, bindRetryMs));
  }
}
