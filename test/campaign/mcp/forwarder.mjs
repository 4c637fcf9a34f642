// The suite cannot say a bearer token: this says it for a client, and passes on all else as it is.
import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** Resolves with the URL in front of `url`, and how to end it. */
export async function forwarderTo(url, token) {
  const target = new URL(url);
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = asked;
    const passed = request(
      { host: target.hostname, port: target.port, path, method, headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        answer.flushHeaders();
        reply.pipe(answer);
      },
    );
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}${target.pathname}`,
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
