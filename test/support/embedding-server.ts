import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

export interface AskedOf {
  model: string;
  input: string[];
  authorization: string | undefined;
  path: string;
}

/** What the next request gets instead of vectors: a status with a text, raw bytes, or nothing at all. */
export type Misbehaviour =
  | { status: number; body?: string; headers?: Record<string, string> }
  | { raw: string }
  | { hangs: true };

/** A server of embeddings on loopback. The vector of a text counts its letters. */
export class EmbeddingServer implements AsyncDisposable {
  readonly requests: AskedOf[] = [];
  /** Taken from the front, one a request. */
  readonly misbehaves: Misbehaviour[] = [];
  dims = 26;
  /** How long each answer takes. */
  delayMs = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(): Promise<EmbeddingServer> {
    const server = new EmbeddingServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  get texts(): string[] {
    return this.requests.flatMap(({ input }) => input);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as AskedOf;
    const { authorization } = request.headers;
    this.requests.push({ model, input, authorization, path: request.url ?? '' });
    await setTimeout(this.delayMs);
    const wrong = this.misbehaves.shift();
    if (wrong !== undefined && 'hangs' in wrong) return;
    if (wrong !== undefined && 'raw' in wrong) return void response.end(wrong.raw);
    if (wrong !== undefined)
      return void response.writeHead(wrong.status, wrong.headers).end(wrong.body ?? '');
    // In another order than they came: an index says which is which.
    const data = input.map((text, index) => ({ index, embedding: this.#vectorOf(text) })).reverse();
    response.end(JSON.stringify({ object: 'list', model, data }));
  }

  #vectorOf(text: string): number[] {
    const vector = Array<number>(this.dims).fill(-0.02);
    for (const letter of text.toLowerCase()) {
      const at = letter.charCodeAt(0) - 97;
      if (at >= 0 && at < 26) vector[at % this.dims] = (vector[at % this.dims] ?? 0) + 1;
    }
    return vector;
  }
}
