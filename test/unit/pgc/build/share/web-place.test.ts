import { describe, expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import { WebPlace } from '../../../../../src/pgc/build/share/web-place.js';
import type { Clock } from '../../../../../src/base/clock.js';
import { served, sharing } from './share.js';

const sources = {
  'a.c': 'int a(void)\n{\n\treturn b();\n}\n',
  'b.c': 'int b(void)\n{\n\treturn 1;\n}\n',
};
/** Waits end at once, but for those of a minute and more. */
const hasty: Clock = {
  ...{ nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  turn: () => new Promise(setImmediate),
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs > 20_000 ? delayMs : 0);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
const placeAt = (address: string, token = ''): WebPlace =>
  new WebPlace(address, { token, clock: hasty, random: () => 0.5 });

describe('a web server as a published place', () => {
  test('takes an index and gives it', async () => {
    await using at = await sharing(sources);
    await using web = await served(at.folder);
    await at.here.index();
    const place = placeAt(`${web.address}/`);
    const { sent_objects, files } = await at.here.publish(place);
    expect(sent_objects).toBe(files + 4);
    expect(await at.here.publish(place)).toMatchObject({ sent_objects: 3 });
    const { moved_objects } = await at.there.pull(place);
    expect(moved_objects).toBe(files);
    expect(await at.there.graph()).toEqual(await at.here.graph());
  });

  test('what a broken connection has sent is not sent again, and what arrived is not fetched again', async () => {
    await using at = await sharing(sources);
    let left = 6;
    await using web = await served(at.folder, ({ method }, response) => {
      if (method !== 'PUT' || (left -= 1) >= 0) return false;
      response.writeHead(400).end();
      return true;
    });
    await at.here.index();
    const place = placeAt(web.address);
    await expect(at.here.publish(place)).rejects.toMatchObject({ code: 'PUBLISHED_REFUSED' });
    left = 1_000;
    const { sent_objects, files } = await at.here.publish(place);
    expect(sent_objects).toBe(files + 4 - 6);
    let given = 0;
    await using slow = await served(at.folder, ({ url = '' }, response) => {
      if (!url.startsWith('/objects/') || (given += 1) <= 5) return false;
      response.writeHead(404).end();
      return true;
    });
    await expect(at.there.pull(placeAt(slow.address))).rejects.toMatchObject({
      code: 'PUBLISHED_DAMAGED',
    });
    // One of the five is the list, which is read anew.
    expect(await at.there.pull(place)).toMatchObject({ moved_objects: files - 4 });
  });

  test('what is cut, or another content, is fetched again; what stays so is refused', async () => {
    await using at = await sharing(sources);
    await at.here.index();
    await at.here.publish(at.place);
    let bad = 0;
    await using web = await served(at.folder, ({ url = '' }, response) => {
      if (!url.startsWith('/objects/') || (bad += 1) % 3 === 0 || bad > 30) return false;
      if (bad % 3 === 1) response.writeHead(200).end('cut');
      // Ends in the middle of what it promised.
      else response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy());
      return true;
    });
    await at.there.pull(placeAt(web.address));
    expect(await at.there.graph()).toEqual(await at.here.graph());
  });

  test('is asked again where it is busy or fails, and not where it refuses', async () => {
    await using at = await sharing(sources);
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
    await using at = await sharing(sources);
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
    await using at = await sharing(sources);
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
    await using at = await sharing(sources);
    const abort = new AbortController();
    await using mute = await served(at.folder, () => {
      abort.abort();
      return true;
    });
    const place = new WebPlace(mute.address, { token: '', signal: abort.signal });
    await expect(place.get('a', 10)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});
