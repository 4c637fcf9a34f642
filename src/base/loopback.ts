const pattern = /^(127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?$/i;

/**
 * `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`, with or without the port (then 0). Undefined: it is
 * something else, in particular a name that only resolves to this machine.
 */
export function parseLoopback(text: string): { host: string; port: number } | undefined {
  const match = pattern.exec(text);
  const port = Number(match?.[2] ?? 0);
  if (match?.[1] === undefined || port > 65_535) return undefined;
  return { host: match[1].replace(/[[\]]/g, ''), port };
}
