import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatAsked {
  authorization: string | undefined;
  model: string;
  system: string;
  user: string;
}

/** What is said to a question; a number is a status, null no answer at all. */
export type ChatReply = string | number | null;

/**
 * A chat endpoint on loopback, as OpenAI's. Whoever holds it says what is answered, by what was asked and how often that
 * was asked before. Of a failure it repeats the key that it was sent, as some servers do.
 */
export class ChatServer implements AsyncDisposable {
  readonly asked: ChatAsked[] = [];
  /** Those whose answer was not waited for. */
  readonly givenUp: ChatAsked[] = [];
  readonly #reply: (asked: ChatAsked, before: number) => ChatReply;
  readonly #server: Server;

  private constructor(reply: (asked: ChatAsked, before: number) => ChatReply) {
    this.#reply = reply;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(reply: (asked: ChatAsked, before: number) => ChatReply): Promise<ChatServer> {
    const server = new ChatServer(reply);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Questions that hold this. */
  with(text: string): ChatAsked[] {
    return this.asked.filter(({ user }) => user.includes(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { authorization } = request.headers;
    const { model, messages } = JSON.parse(Buffer.concat(chunks).toString()) as {
      model: string;
      messages: { content: string }[];
    };
    const [system = '', user = ''] = messages.map(({ content }) => content);
    const before = this.asked.filter((each) => taskOf(each) === taskOf({ user })).length;
    const asked = { authorization, model, system, user };
    this.asked.push(asked);
    const reply = request.url === '/v1/chat/completions' ? this.#reply(asked, before) : 404;
    response.once('close', () => {
      if (!response.writableEnded) this.givenUp.push(asked);
    });
    if (reply === null) return;
    response.setHeader('content-type', 'application/json');
    if (typeof reply === 'number') {
      const error = { message: `no: ${authorization ?? ''}` };
      response.writeHead(reply, { 'retry-after-ms': '1' }).end(JSON.stringify({ error }));
      return;
    }
    const message = { role: 'assistant', content: reply };
    const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };
    response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
  }
}

/** The first lines of a prompt: what is to be done. */
function taskOf({ user }: { user: string }): string {
  return user.split('\n\n')[0] ?? '';
}
