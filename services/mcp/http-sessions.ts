import {
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from '@modelcontextprotocol/server';
import { randomUUID } from 'node:crypto';

/** Clients of the 2025 protocol at once; at the limit the one that has been silent longest is forgotten. */
export const sessionsMax = 64;

interface Session {
  server: McpServer;
  transport: WebStandardStreamableHTTPServerTransport;
}

/**
 * Clients that speak MCP as of 2025, whose calls can be cancelled only within a session. A client whose
 * session is forgotten gets a 404 and begins another by itself.
 */
export class HttpSessions implements AsyncDisposable {
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => McpServer;
  readonly #bodyBytesMax: number;

  constructor(parts: { newServer: () => McpServer; bodyBytesMax: number }) {
    this.#newServer = parts.newServer;
    this.#bodyBytesMax = parts.bodyBytesMax;
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request);
    const session = this.#sessions.get(id);
    if (session === undefined) return unknownSession();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#forget(id)));
  }

  async #begin(request: Request): Promise<Response> {
    const server = this.#newServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#bodyBytesMax,
      onsessioninitialized: async (id) => {
        const [oldest] = this.#sessions.keys();
        if (this.#sessions.size >= sessionsMax && oldest !== undefined) await this.#forget(oldest);
        this.#sessions.set(id, { server, transport });
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // The request began no session.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  async #forget(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.server.close();
  }
}

function unknownSession(): Response {
  const error = { code: -32001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
