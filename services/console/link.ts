import path from 'node:path';
import { readPrivate, removePrivate, writePrivate } from '../../src/config/private-file.js';
import { BusError, RemoteError, type Failure } from '../../src/errors/bus-error.js';
import { parsed } from '../local-http.js';

/** One that stands still is not waited for. */
const answerMsMax = 5_000;

/** Where the console of a home is, and the secret by which its person may have a new link: for the user alone (0600). */
interface Running {
  origin: string;
  secret: string;
}

function fileOf(home: string): string {
  return path.join(home, 'console', 'running.json');
}

/** Tells later commands of this console, the last one of its home, until it is disposed of. Throws STORE_UNAVAILABLE. */
export function announced(home: string, running: Running): Disposable {
  const file = fileOf(home);
  const text = `${JSON.stringify(running)}\n`;
  writePrivate(file, text, { replace: true });
  return {
    [Symbol.dispose]: () => {
      if (readPrivate(file) === text) removePrivate(file);
    },
  };
}

/** A new link from the console that runs. Throws CONSOLE_NONE, KEY_FILE_INVALID. */
export async function linkToRunning({ home }: { home: string }): Promise<string> {
  const { origin, secret } = (parsed(readPrivate(fileOf(home)) ?? '') ?? {}) as Partial<Running>;
  if (origin === undefined || secret === undefined) throw new BusError('CONSOLE_NONE');
  const asked = fetch(`${origin}/api/link`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    signal: AbortSignal.timeout(answerMsMax),
  });
  // After a console that was killed another program may have its port, and answer anything.
  const told = await asked
    .then((answer) => answer.json())
    .catch((error: unknown) => {
      throw new BusError('CONSOLE_NONE', {}, { cause: error });
    });
  const { link, error } = (told ?? {}) as { link?: string; error?: Failure };
  if (error !== undefined) throw new RemoteError(error);
  if (link === undefined) throw new BusError('CONSOLE_NONE');
  return link;
}
