import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import { WebPlace } from '../../../../../src/pgc/build/share/web-place.js';
import type { Clock } from '../../../../../src/base/clock.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { guestOf, served, sharing, type Sharing } from './share.js';

/** Short waits end at once. */
const hasty: Clock = {
  ...{ nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  turn: () => new Promise(setImmediate),
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs > 20_000 ? delayMs : 0);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
let at: Sharing;

beforeAll(async () => {
  at = await sharing();
});

afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

const placeAt = (address: string, token = ''): WebPlace =>
  new WebPlace(address, { token, clock: hasty, random: () => 0.5 });

describe('a web server as a published place', () => {
  test('takes an index and gives it, and a broken run is gone on with', async () => {
    await using guest = await guestOf(at, at.second);
    await using empty = await TemporaryTree.create();
    let left = 6;
    await using web = await served(empty.root, ({ method }, response) => {
      if (method !== 'PUT' || (left -= 1) >= 0) return false;
      response.writeHead(400).end();
      return true;
    });
    const place = placeAt(`${web.address}/`);
    await expect(at.here.publish(place)).rejects.toMatchObject({ code: 'PUBLISHED_REFUSED' });
    left = 1_000;
    const { sent_objects, files } = await at.here.publish(place);
    expect(sent_objects).toBeLessThan(files + 6 - 5);
    expect(await at.here.publish(place)).toMatchObject({ sent_objects: 5 });
    let given = 0;
    await using short = await served(empty.root, ({ url = '' }, response) => {
      if (!url.startsWith('/objects/') || (given += 1) <= 5) return false;
      response.writeHead(404).end();
      return true;
    });
    const { there } = guest;
    const missing = there.pull(placeAt(short.address));
    await expect(missing).rejects.toMatchObject({ code: 'PUBLISHED_DAMAGED' });
    // One of the five is the list, which is read anew.
    const objects = new Set(web.asked.filter((each) => each.startsWith('PUT /objects/'))).size - 1;
    expect(await there.pull(place)).toMatchObject({ moved_objects: objects - 4 });
    expect(await there.graph()).toEqual(await at.here.graph());
  });

  test('what is cut, or another content, is fetched again', async () => {
    await using guest = await guestOf(at, at.second);
    const asked = new Map<string, number>();
    await using web = await served(at.folder, ({ url = '' }, response) => {
      const times = (asked.get(url) ?? 0) + 1;
      asked.set(url, times);
      if (!url.startsWith('/objects/') || times > 2) return false;
      if (times === 1) response.writeHead(200).end('cut');
      // Ends in the middle of what it promised.
      else response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy());
      return true;
    });
    await guest.there.pull(placeAt(web.address));
    expect(await guest.there.graph()).toEqual(await at.here.graph());
  });

  test('is asked again where it is busy or fails, and not where it refuses', async () => {
    for (const [status, code, times] of [
      [503, 'PUBLISHED_UNREACHABLE', 5],
      [429, 'PUBLISHED_UNREACHABLE', 5],
      [401, 'PUBLISHED_REFUSED', 1],
    ] as const) {
      await using web = await served(at.folder, (_, response) => {
        response.writeHead(status, { 'retry-after': '1' }).end();
        return true;
      });
      const failure = await placeAt(web.address)
        .get('heads/x.json', 10)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code, data: { place: `${web.address}/` } });
      expect(web.asked).toHaveLength(times);
    }
  });

  test('gives up on a server that is not there, on one that says nothing, and on one without an end', async () => {
    let address: string;
    {
      await using web = await served(at.folder);
      address = web.address;
    }
    await expect(placeAt(address).get('a', 10)).rejects.toMatchObject({
      code: 'PUBLISHED_UNREACHABLE',
      data: { detail: 'ECONNREFUSED' },
    });
    await using mute = await served(at.folder, () => true);
    const impatient: Clock = { ...hasty, after: (_, fn) => hasty.after(0, fn) };
    const place = new WebPlace(mute.address, { token: '', clock: impatient });
    await expect(place.get('a', 10)).rejects.toMatchObject({
      code: 'PUBLISHED_UNREACHABLE',
      retryable: true,
    });
    await using endless = await served(at.folder, (_, response) => {
      response.writeHead(200);
      const more = (): boolean => response.write('x'.repeat(1_000), () => void more());
      return more();
    });
    await expect(placeAt(endless.address).get('a', 10)).rejects.toMatchObject({
      code: 'PUBLISHED_DAMAGED',
    });
  });

  test('gets the token and what stands behind the address; messages have neither', async () => {
    const seen: unknown[] = [];
    await using web = await served(at.folder, ({ headers, url }, response) => {
      seen.push([headers.authorization, url]);
      response.writeHead(401).end();
      return true;
    });
    const place = placeAt(`${web.address}/team?sig=hidden`, 'secret');
    const failure = (await place
      .put('heads/a', Buffer.from('x'))
      .catch((error: unknown) => error)) as BusError;
    expect(seen).toEqual([['Bearer secret', '/team/heads/a?sig=hidden']]);
    expect(JSON.stringify([failure.message, failure.data])).not.toMatch(/secret|hidden/);
  });

  test('no token in the clear, no password in the address', () => {
    expect(() => placeAt('http://example.org/', 'secret')).toThrow(BusError);
    expect(() => placeAt('https://me:it@example.org/')).toThrow(BusError);
    expect(placeAt('http://example.org/x').title).toBe('http://example.org/x');
  });

  test('an interrupt ends it', async () => {
    const abort = new AbortController();
    await using mute = await served(at.folder, () => {
      abort.abort();
      return true;
    });
    const place = new WebPlace(mute.address, { token: '', signal: abort.signal });
    await expect(place.get('a', 10)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
