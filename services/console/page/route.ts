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

/** Links within the page change the page, unless they are wanted elsewhere. */
export function followLinks(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
  if (link === null || !isPlain || event.defaultPrevented || link.target !== '') return;
  // A drawing has links, too, whose address is an object.
  const address = link.getAttribute('href') ?? '';
  if (!address.startsWith('/') || address.startsWith('//')) return;
  event.preventDefault();
  go(address);
}
