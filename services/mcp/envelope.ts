import {
  type ClientCapabilities,
  type ServerContext,
  CLIENT_CAPABILITIES_META_KEY,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';

/** What a request of 2026 says its client can; those of 2025 say nothing of themselves. */
export function clientOf({ mcpReq: { envelope } }: ServerContext): ClientCapabilities | undefined {
  const said = envelope as Readonly<Record<string, unknown>> | undefined;
  return said?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

/** The W3C trace that a request belongs to; empty: none. */
export function traceparentOf({ mcpReq: { _meta } }: ServerContext): string {
  const said = _meta?.[TRACEPARENT_META_KEY];
  return typeof said === 'string' ? said : '';
}
