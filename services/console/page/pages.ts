import type { ComponentType } from 'preact';
import type { PageProps } from './address.js';

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
  {
    name: 'symbol',
    title: 'Symbol',
    load: async () => (await import('./pages/symbol/symbol.js')).SymbolPage,
  },
  {
    name: 'map',
    title: 'Map',
    key: 'p',
    load: async () => (await import('./pages/map/map.js')).MapPage,
  },
  {
    name: 'agents',
    title: 'Agents',
    key: 'a',
    load: async () => (await import('./pages/agents/agents.js')).AgentsPage,
  },
  {
    name: 'mail',
    title: 'Mail',
    key: 'm',
    load: async () => (await import('./pages/mail/mail.js')).MailPage,
  },
  {
    name: 'dead',
    title: 'Dead letters',
    key: 'd',
    load: async () => (await import('./pages/mail/dead.js')).DeadPage,
  },
  {
    name: 'tasks',
    title: 'Tasks',
    key: 't',
    load: async () => (await import('./pages/tasks/tasks.js')).TasksPage,
  },
  {
    name: 'gates',
    title: 'Gates',
    key: 'g',
    load: async () => (await import('./pages/gates/gates.js')).GatesPage,
  },
  {
    name: 'prompts',
    title: 'Prompts',
    key: 'q',
    load: async () => (await import('./pages/prompts.js')).PromptsPage,
  },
  {
    name: 'critic',
    title: 'Critic',
    key: 'c',
    load: async () => (await import('./pages/critic/critic.js')).CriticPage,
  },
  {
    name: 'health',
    title: 'Health',
    key: 'h',
    load: async () => (await import('./pages/health/health.js')).HealthPage,
  },
];

/** Where `/` leads. */
export const firstPage = 'ask';
