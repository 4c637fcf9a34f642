import { signal } from '@preact/signals';
import { about, routeOf, treeOf, type Route } from './address.js';

export const here = signal<Route>(routeOf('/'));

/** Also the first page of a visit, and each step back. */
export function readAddress(): void {
  here.value = routeOf(location.href);
}

/** The tree stays, unless the link names one. `replace`: the step back leads to where the visit was before, not to this one. */
export function go(link: string, { replace = false } = {}): void {
  const its = treeOf(routeOf(link)) === undefined ? about(link, treeOf(here.value)) : link;
  if (replace) history.replaceState(null, '', its);
  else history.pushState(null, '', its);
  readAddress();
  if (!replace) window.scrollTo(0, 0);
}

/** Links within the page change the page; one that is opened or copied elsewhere is about the same tree. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  // Those of a drawing are links, too: what they have as properties are objects.
  const address = link?.getAttribute('href') ?? '';
  if (link === null || !address.startsWith('/') || address.startsWith('//')) return;
  const its = about(address, treeOf(here.value));
  link.setAttribute('href', its);
  const hasModifier = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  const isPlain = event.type === 'click' && event.button === 0 && !hasModifier;
  if (!isPlain || event.defaultPrevented || link.hasAttribute('target')) return;
  event.preventDefault();
  go(its);
}
