import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { routeOf } from '../../../services/console/page/address.js';
import { followLinks, here } from '../../../services/console/page/route.js';

/** A link as far as it is looked at. One of a drawing has a target that is an object, as each SVG link has. */
class Link {
  readonly target = { baseVal: '' };
  readonly attributes: Record<string, string>;

  constructor(href: string, its: Record<string, string> = {}) {
    this.attributes = { href, ...its };
  }

  closest(): this {
    return this;
  }
  getAttribute(name: string): string | null {
    return this.attributes[name] ?? null;
  }
  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
  }
  hasAttribute(name: string): boolean {
    return name in this.attributes;
  }
}

const visited: string[] = [];
beforeEach(() => {
  visited.length = 0;
  const location = { href: '' };
  vi.stubGlobal('Element', Link);
  vi.stubGlobal('location', location);
  vi.stubGlobal('window', { scrollTo: () => undefined });
  vi.stubGlobal('history', {
    pushState: (_: unknown, __: string, address: string) => {
      visited.push(address);
      location.href = address;
    },
  });
  here.value = routeOf('/ask?q=x&tree=%2Fwork');
});
afterEach(() => vi.unstubAllGlobals());

/** Whether the browser is kept from following it. */
function follow(link: Link, its: object = {}): boolean {
  let isKept = false;
  const event = { target: link, type: 'click', button: 0, preventDefault: () => (isKept = true) };
  followLinks({ ...event, ...its } as unknown as MouseEvent);
  return isKept;
}

test('a link, be it of a drawing, leads to another page about the same tree', () => {
  expect(follow(new Link('/symbol?id=a'))).toBe(true);
  expect(visited).toEqual(['/symbol?id=a&tree=%2Fwork']);
});

test('a link that is opened elsewhere is about the same tree, and of a tree that was left it is not', () => {
  const link = new Link('/symbol?id=a');
  expect(follow(link, { ctrlKey: true })).toBe(false);
  expect(follow(link, { type: 'mousedown', button: 1 })).toBe(false);
  expect([link.getAttribute('href'), visited]).toEqual(['/symbol?id=a&tree=%2Fwork', []]);
  here.value = routeOf('/ask');
  follow(link);
  expect(visited).toEqual(['/symbol?id=a']);
});

test('links to elsewhere are those of the browser', () => {
  for (const href of ['//other/x', 'vscode://file/x:1', '#content', 'javascript:void 0'])
    expect([href, follow(new Link(href))]).toEqual([href, false]);
  expect(follow(new Link('/a', { target: '_blank' }))).toBe(false);
  expect(visited).toEqual([]);
});
