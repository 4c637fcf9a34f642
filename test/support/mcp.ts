import {
  Client,
  ReadBuffer,
  serializeMessage,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { startCommand, type Command } from './in-process.js';
import { environment, startSigma, type Running } from './sigma.js';
import { eventually } from './eventually.js';

/** The two versions of the protocol that clients speak today. */
export type Era = 'legacy' | 'modern';

/** Answers the forms that the server shows; a client without one shows none. */
export type Person = (message: string) => { action: string; content?: Record<string, unknown> };

function newClient(era: Era, person?: Person): Client {
  const mode = era === 'legacy' ? ('legacy' as const) : { pin: '2026-07-28' as const };
  const capabilities = person === undefined ? {} : { elicitation: { form: {} } };
  const options = { versionNegotiation: { mode }, capabilities };
  const client = new Client({ name: 'test', version: '1' }, options);
  if (person !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => person(params.message) as never);
  return client;
}

/** All tools, with their answers as data. */
const everything = ['--tools', 'all', '--structure'];

interface StdioOptions {
  era?: Era;
  args?: string[];
  cwd?: string;
  person?: Person;
  /** As a client finds it that says nothing of tools. */
  isPlain?: true;
}

/** The official client, connected to a `sigma mcp` inside this process. */
export async function stdioClient(home: string, options: StdioOptions = {}): Promise<Client> {
  const client = newClient(options.era ?? 'legacy', options.person);
  await client.connect(new PipeTransport(home, options));
  return client;
}

/** Standard input and output of a `sigma mcp` inside this process. */
class PipeTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #received = new ReadBuffer();
  #command: Command | undefined;

  constructor(
    readonly home: string,
    readonly options: StdioOptions,
  ) {}

  start(): Promise<void> {
    const { args = [], cwd: folder, isPlain = false } = this.options;
    const its = { env: environment(this.home), folder };
    this.#command = startCommand(
      ['mcp', ...(isPlain ? [] : everything), ...args],
      its,
      (stream, text) => {
        if (stream === 'stdout') this.#take(text);
      },
    );
    void this.#command.ended.then(() => this.onclose?.());
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#command?.write(serializeMessage(message));
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#command?.write(undefined);
    await this.#command?.ended;
  }

  #take(text: Buffer): void {
    this.#received.append(text);
    for (;;) {
      const message = this.#received.readMessage();
      if (message === null) return;
      this.onmessage?.(message);
    }
  }
}

export interface HttpServer extends Running {
  url: string;
  tokenFile: string;
}

export async function startHttp(home: string, args: string[] = []): Promise<HttpServer> {
  const running = startSigma(home, ['mcp', ...everything, '--http', '0', ...args]);
  await eventually(() => {
    if (!/^token in /m.test(running.output())) throw new Error(running.output());
  });
  const url = /^ready (\S+)$/m.exec(running.output())?.[1] ?? '';
  const tokenFile = /^token in (.+)$/m.exec(running.output())?.[1] ?? '';
  return { ...running, url, tokenFile };
}

export async function httpClient(url: string, token: string, era: Era): Promise<Client> {
  const client = newClient(era);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  await client.connect(transport);
  return client;
}

/** The error of a failed call. */
export function failureOf(result: any): { code: string; retryable: boolean; next: string } {
  if (result.isError !== true) throw new Error(`it did not fail: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text).error;
}
