import type { ComponentType } from 'preact';
import type { Route } from './address.js';

export interface PageProps {
  route: Route;
}

/** A page of the console. A new one is a file of `pages/` and a row. */
export interface Page {
  /** First part of its address. */
  name: string;
  title: string;
  /** Behind `g`; absent: it has no place in the navigation. */
  key?: string;
  load: () => Promise<ComponentType<PageProps>>;
}

export const pages: readonly Page[] = [
  {
    name: 'ask',
    title: 'Ask',
    key: 'k',
    load: async () => (await import('./pages/ask/ask.js')).Ask,
  },
];

/** Where `/` leads. */
export const firstPage = 'ask';
