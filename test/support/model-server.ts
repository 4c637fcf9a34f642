import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('model-server/main.mjs', import.meta.url));

export interface ModelRule {
  match?: string;
  system?: string;
  times?: number;
  answer: {
    text?: string;
    each?: string;
    after?: string;
    repeat?: number;
    calls?: { id?: string; name: string; arguments?: object | string }[];
    refusal?: string;
    finish?: string;
    usage?: { prompt: number; completion: number } | null;
    status?: number;
    headers?: Record<string, string>;
    raw?: string;
    hangs?: 'before' | 'within' | 'cut';
    parts?: number;
    sharedIndex?: boolean;
    delayMs?: number;
    /** The answers are in the conversation itself: a line `@turns [answer, …]`. */
    follows?: boolean;
  };
}

export interface ModelRequest {
  path: string;
  authorization?: string;
  /** The body of the request. */
  body: any;
  /** The client closed the connection before the end of the answer. */
  isGivenUp: boolean;
}

/** A scripted model server in a child process that ends with this one. See `model-server/script.mjs`. */
export class ModelServer implements AsyncDisposable {
  private constructor(
    readonly url: string,
    readonly process: ChildProcess,
  ) {}

  static async open(script: readonly ModelRule[] = []): Promise<ModelServer> {
    const child = spawn(process.execPath, [program, '--until-stdin-ends'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const server = new ModelServer((JSON.parse(line) as { url: string }).url, child);
    await server.play(script);
    return server;
  }

  /** From now on; what was asked before is forgotten. */
  async play(script: readonly ModelRule[]): Promise<void> {
    await fetch(new URL('/script', this.url), { method: 'PUT', body: JSON.stringify(script) });
  }

  async requests(): Promise<ModelRequest[]> {
    const response = await fetch(new URL('/requests', this.url));
    return (await response.json()) as ModelRequest[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
  }
}
