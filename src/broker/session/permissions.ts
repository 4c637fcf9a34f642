import { defaultRules, reserved, type RoleRule, type RuleOverrides } from './permission-rules.js';

/** Topics that only the broker itself publishes. */
const brokerTopics = ['presence.', 'sys.'];

const reservedServices: ReadonlySet<string> = new Set(reserved.services);
const reservedTypes: ReadonlySet<string> = new Set(reserved.types);

/** The recipient, with aliases resolved. */
interface Recipient {
  kind: 'agent' | 'service' | 'topic';
  name: string;
  /** Role of the recipient, where it is known already. */
  role?: string;
}

/** The rights of one role. Compiled once; a check costs a few comparisons and allocates nothing. */
export class Rights {
  readonly framesPerS: number;
  readonly bytesPerS: number;
  readonly isHosted: boolean;
  /** It administers, or offers what is reserved: its agents are never forgotten for others. */
  readonly isTrusted: boolean;
  /** The usual case, kept as a flag. */
  readonly #sendsAnything: boolean;
  readonly #send: { kind: string; name: Pattern; types: Pattern[] }[];
  readonly #offer: Pattern[];
  readonly #publish: Pattern[];
  readonly #administer: Pattern[];

  constructor(rule: RoleRule) {
    this.framesPerS = rule.framesPerS;
    this.bytesPerS = rule.bytesPerS;
    this.isHosted = rule.isHosted;
    this.isTrusted =
      rule.administer.length > 0 || rule.offer.some((each) => reservedServices.has(rootOf(each)));
    this.#send = rule.send.map(({ to, types }) => {
      const colon = to.indexOf(':');
      return {
        kind: colon < 0 ? '*' : to.slice(0, colon),
        name: compiled(to.slice(colon + 1)),
        types: types.map(compiled),
      };
    });
    this.#sendsAnything = rule.send.some((each) => each.to === '*' && each.types.includes('*'));
    this.#offer = rule.offer.map(compiled);
    this.#publish = rule.publish.map(compiled);
    this.#administer = rule.administer.map(compiled);
  }

  /** Replies need no permission: an agent that may be asked may answer. */
  maySend(to: Recipient, type: string): boolean {
    const isReserved = reservedTypes.has(type);
    if (this.#sendsAnything && !isReserved) return true;
    for (const rule of this.#send) {
      const isMeant =
        rule.kind === 'role'
          ? to.role !== undefined && matches(rule.name, to.role)
          : (rule.kind === '*' || rule.kind === to.kind) && matches(rule.name, to.name);
      // `*` does not cover reserved types: a rule must name them.
      const types = isReserved ? rule.types.filter(({ text }) => text !== '') : rule.types;
      if (isMeant && anyMatches(types, type)) return true;
    }
    return false;
  }

  mayOffer(service: string): boolean {
    const root = rootOf(service);
    if (!reservedServices.has(root)) return anyMatches(this.#offer, service);
    // `*` does not cover reserved services: a rule must name them.
    return this.#offer.some((each) => rootOf(each.text) === root && matches(each, service));
  }

  /** `agent` is the publisher. Topics below `agent.<id>.` belong to that agent alone. */
  mayPublish(agent: string, topic: string): boolean {
    if (brokerTopics.some((prefix) => topic.startsWith(prefix))) return false;
    if (rootOf(topic) === 'agent' && !topic.startsWith(`agent.${agent}.`)) return false;
    return anyMatches(this.#publish, topic);
  }

  /** `action`: the type of an ADMIN frame, or `inbox.read`, `dead.read`, `inbox.take` for another's mailbox. */
  mayAdminister(action: string): boolean {
    return anyMatches(this.#administer, action);
  }
}

/** Rights by role. Roles without a rule share that of `*`. */
export class Permissions {
  readonly #byRole = new Map<string, Rights>();
  readonly #others: Rights;

  /** `overrides`: each field that is given replaces that field of the role's default rule. */
  constructor(overrides: RuleOverrides = {}) {
    const others = { ...defaultRules['*'], ...defined(overrides['*']) };
    this.#others = new Rights(others);
    for (const role of new Set([...Object.keys(defaultRules), ...Object.keys(overrides)])) {
      if (role === '*') continue;
      const base = Object.hasOwn(defaultRules, role) ? defaultRules[role] : undefined;
      const rule = { ...others, ...defined(base), ...defined(overrides[role]) };
      this.#byRole.set(role, new Rights(rule));
    }
  }

  of(role: string): Rights {
    return this.#byRole.get(role) ?? this.#others;
  }
}

/** A text, or with `isPrefix` a prefix. */
interface Pattern {
  text: string;
  isPrefix: boolean;
}

function compiled(pattern: string): Pattern {
  const isPrefix = pattern.endsWith('*');
  return { text: isPrefix ? pattern.slice(0, -1) : pattern, isPrefix };
}

function matches(pattern: Pattern, text: string): boolean {
  return pattern.isPrefix ? text.startsWith(pattern.text) : text === pattern.text;
}

function anyMatches(patterns: readonly Pattern[], text: string): boolean {
  for (const pattern of patterns) if (matches(pattern, text)) return true;
  return false;
}

function rootOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}

function defined(rule: RuleOverrides[string] = {}): Partial<RoleRule> {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}
