// The graph that a compiler gives, from the lines that the program of a language prints.

/** `kind` of a call that a compiler binds to one definition, or to a method of an interface. */
const bound = new Set(['static', 'interface']);

export class Truth {
  /** Files that the compiler has read. */
  files = new Set();
  /** By `path:line`. */
  definitions = new Map();
  summary = {};
  /** By file: lines `[from, to]` of which the compiler says nothing. */
  #unread = new Map();
  /** Names that stand in those lines: nobody knows whether they are called there. */
  #open = new Set();
  /** Constants, variables and types at the top of a package or module, by `path:line`; none of some languages. */
  named = new Map();
  #named = new Map();
  /** By what they use: `path:line` of the lines. */
  #uses = new Map();
  /** Lines with a use of a name that the compiler cannot bind: `name path:line`. */
  #unbound = new Set();
  #sites = [];
  #byTarget = new Map();
  #byInterface = new Map();
  #byName = new Map();
  #byHolder = new Map();
  /** `interface` and method -> targets. */
  #implementations = new Map();
  /** Target -> `interface` and method. */
  #implemented = new Map();

  constructor(facts) {
    for (const fact of facts) this.#take(fact);
    for (const site of this.#sites) this.#file(site);
  }

  #take(fact) {
    if (fact.is === 'file') this.files.add(fact.path);
    else if (fact.is === 'definition') {
      const place = `${fact.file}:${fact.line}`;
      this.definitions.set(place, fact);
      push(this.#named, fact.name, place);
    } else if (fact.is === 'site') this.#sites.push(fact);
    else if (fact.is === 'named') this.named.set(`${fact.file}:${fact.line}`, fact);
    else if (fact.is === 'use' && fact.target === undefined)
      this.#unbound.add(`${fact.name} ${fact.file}:${fact.line}`);
    else if (fact.is === 'use') {
      const lines = this.#uses.get(fact.target) ?? new Set();
      this.#uses.set(fact.target, lines.add(`${fact.file}:${fact.line}`));
    } else if (fact.is === 'implementation') {
      const method = `${fact.interface} ${fact.method}`;
      push(this.#implementations, method, fact.target);
      push(this.#implemented, fact.target, method);
    } else if (fact.is === 'unread') push(this.#unread, fact.file, [fact.start, fact.end]);
    else if (fact.is === 'open') this.#open.add(fact.name);
    else this.summary = fact;
  }

  #file(site) {
    push(this.#byName, site.name, site);
    if (site.target !== undefined) push(this.#byTarget, site.target, site);
    if (site.interface !== undefined)
      push(this.#byInterface, `${site.interface} ${site.name}`, site);
    if (site.holder !== '' && bound.has(site.kind)) push(this.#byHolder, site.holder, site);
  }

  /** Lines that use what is defined at a place, calls too. */
  usesOf(place) {
    return this.#uses.get(place) ?? new Set();
  }

  /** Whether the compiler says what a line uses, and what not. */
  isRead(file, line) {
    const isIn = ([from, to]) => from <= line && line <= to;
    return this.files.has(file) && this.#unread.get(file)?.some(isIn) !== true;
  }

  /** Whether a name may be called where the compiler has not looked. */
  isOpen(name) {
    return this.#open.has(name);
  }

  /** Whether the compiler knows what a name means on a line, `path:line`. */
  isJudged(name, place) {
    const colon = place.lastIndexOf(':');
    const isRead = this.isRead(place.slice(0, colon), Number(place.slice(colon + 1)));
    return isRead && !this.#unbound.has(`${name} ${place}`);
  }

  /** Places of all definitions of a name. */
  definitionsNamed(name) {
    return this.#named.get(name) ?? [];
  }

  /** Whether `place` may run when the method of an interface that is declared at `abstraction` is called. */
  implements(place, abstraction) {
    const sites = this.#byTarget.get(abstraction) ?? [];
    return sites.some((site) => this.#mayRun(site).includes(place));
  }

  /**
   * What calls a definition. `foreign`: through an interface of a library, for example `error`. `value`: named there,
   * not called. `unknown`: calls of its name that the compiler cannot bind, because a library is missing.
   */
  callersOf(place) {
    const own = this.#byTarget.get(place) ?? [];
    const through = (this.#implemented.get(place) ?? []).flatMap(
      (method) => this.#byInterface.get(method) ?? [],
    );
    const { name, container } = this.definitions.get(place);
    // A constructor is called by the name of its class.
    const names = name === 'constructor' ? [name, container] : [name];
    const named = names.flatMap((each) => this.#byName.get(each) ?? []);
    return {
      static: own.filter(({ kind }) => bound.has(kind)),
      dispatch: through.filter(({ kind, target }) => kind === 'interface' && target !== undefined),
      foreign: through.filter(({ kind, target }) => kind === 'interface' && target === undefined),
      value: [...own, ...through].filter(({ kind }) => kind === 'value'),
      unknown: named.filter(({ kind }) => kind === 'unknown'),
    };
  }

  /**
   * What a definition calls: `{ site, target, via }`. Each definition that may run behind an interface is `dispatch`, or
   * `foreign` if the interface is that of a library.
   */
  calleesOf(place) {
    return (this.#byHolder.get(place) ?? []).flatMap((site) => {
      const isOwn = site.target !== undefined;
      const own = isOwn ? [{ site, target: site.target, via: 'static' }] : [];
      const via = isOwn ? 'dispatch' : 'foreign';
      return [...own, ...this.#mayRun(site).map((target) => ({ site, target, via }))];
    });
  }

  #mayRun({ kind, interface: through, name }) {
    if (kind !== 'interface') return [];
    return this.#implementations.get(`${through} ${name}`) ?? [];
  }

  /** All that the compiler says of a name on a line. */
  saidOf(name, file, line) {
    return (this.#byName.get(name) ?? []).filter((site) => site.file === file && isOn(site, line));
  }

  /** Whether a call on this line may reach the definition; undefined where the compiler has not looked. */
  leads(file, line, place) {
    if (!this.files.has(file)) return undefined;
    const { static: own, dispatch, foreign, unknown } = this.callersOf(place);
    const isHere = (site) => site.file === file && isOn(site, line);
    if ([...own, ...dispatch, ...foreign].some(isHere)) return true;
    // What a module passes on as a whole is called by any name.
    const isWhole = this.definitions.get(place).name === 'default';
    const isUnknown = ({ kind }) => kind === 'unknown' || kind === 'dynamic';
    const unsure = isWhole ? this.#sites.filter(isUnknown) : unknown;
    return unsure.some(isHere) || !this.isRead(file, line) ? undefined : false;
  }
}

/** A call over several lines is on that of its name and on that where it begins. */
export function isOn({ line, start }, at) {
  return line === at || start === at;
}

function push(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
