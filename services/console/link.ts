import { X509Certificate } from 'node:crypto';
import { request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { isIP } from 'node:net';
import path from 'node:path';
import { readPrivate, removePrivate, writePrivate } from '../../src/config/private-file.js';
import { BusError, RemoteError, type Failure } from '../../src/errors/bus-error.js';
import { bodyOf, parsed } from '../http-server.js';
import type { Site } from '../site.js';

/** One that stands still is not waited for. */
const answerMsMax = 5_000;
const answerBytesMax = 64 * 1024;

/** Where the console of a home is, and the secret by which its person may have a new link: for the user alone (0600). */
interface Running {
  origin: string;
  secret: string;
  /** Over TLS: where it listens, and the certificate that it must show. */
  site?: Pick<Site, 'address' | 'certificate'> | undefined;
}

function fileOf(home: string): string {
  return path.join(home, 'console', 'running.json');
}

/** Tells later commands of this console, the last one of its home, until it is disposed of. Throws STORE_UNAVAILABLE. */
export function announced(home: string, { site, ...its }: Running): Disposable {
  const file = fileOf(home);
  // Not its key.
  const shown = site && { address: site.address, certificate: site.certificate };
  const text = `${JSON.stringify({ ...its, site: shown })}\n`;
  writePrivate(file, text, { replace: true });
  return {
    [Symbol.dispose]: () => {
      if (readPrivate(file) === text) removePrivate(file);
    },
  };
}

/** A new link from the console that runs. Throws CONSOLE_NONE, KEY_FILE_INVALID. */
export async function linkToRunning({ home }: { home: string }): Promise<string> {
  const running = (parsed(readPrivate(fileOf(home)) ?? '') ?? {}) as Partial<Running>;
  if (running.origin === undefined || running.secret === undefined)
    throw new BusError('CONSOLE_NONE');
  // After a console that was killed another program may have its port, and answer anything.
  const told = await asked(running as Running).catch((error: unknown) => {
    throw new BusError('CONSOLE_NONE', {}, { cause: error });
  });
  const { link, error } = (told ?? {}) as { link?: string; error?: Failure };
  if (error !== undefined) throw new RemoteError(error);
  if (link === undefined) throw new BusError('CONSOLE_NONE');
  return link;
}

/** Goes to this machine, not to where its name resolves; the secret only to one with the key of that certificate. */
function asked({ origin, secret, site }: Running): Promise<unknown> {
  const { host, hostname, port } = new URL(origin);
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) > 0;
  const common = {
    ...{ method: 'POST', path: '/api/link', port },
    headers: { host, authorization: `Bearer ${secret}` },
    signal: AbortSignal.timeout(answerMsMax),
  };
  return new Promise((resolve, reject) => {
    const sent =
      site === undefined
        ? requestPlain({ ...common, host: hostname })
        : request({
            ...common,
            ...{ host: nearest(site.address), servername: isAddress ? '' : hostname },
            // It is known itself: its authority need not be, and proves no other.
            ...{ ca: site.certificate, allowPartialTrustChain: true },
            checkServerIdentity: (_, { raw }) =>
              raw.equals(new X509Certificate(site.certificate).raw)
                ? undefined
                : new Error('another certificate'),
          });
    sent.on('error', reject).on('response', (response) => {
      bodyOf(response, answerBytesMax).then((body) => resolve(parsed(body)), reject);
    });
    sent.end();
  });
}

/** An address that stands for all of them is none to go to. */
function nearest(address: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
}
