import { testPath } from '../../pgc/analyse/surfaces.js';
import type { Ground } from '../ground.js';
import type { ModeInput } from '../mode.js';
import type { Artifact } from '../shapes.js';
import { CodeReader, codeLanguageOf } from '../../pgc/mine/code-reader.js';
import { Asking } from './asking.js';
import {
  alikeOf,
  commitsIn,
  factsIn,
  filesOf,
  movedTo,
  ofInnermost,
  parsed,
  protects,
  reachOf,
  usesOf,
} from './facts.js';
import {
  impactLimits,
  type Component,
  type Fact,
  type FileKnowledge,
  type Impact,
  type Reach,
} from './impact.js';
import { oncePerArtifact } from './once-per-artifact.js';
import { subjectOfDocument, subjectOfSource, type Subject } from './subject.js';

const gathered = oncePerArtifact(({ artifact, signal }, ground) =>
  new Gathering(ground, signal).of(artifact),
);

/**
 * Which code an artifact is about: its own functions, or those that it names. What the index cannot be asked, and what is
 * left out at a limit or because `signal` has come, stands in `unable`. Never throws what the index throws.
 */
export function impactOf(
  input: Pick<ModeInput, 'artifact' | 'ground' | 'signal'>,
): Promise<Impact> {
  return input.ground === undefined ? withoutGround(input) : gathered(input, input.ground);
}

/** What the text alone shows. */
async function withoutGround({ artifact }: Pick<ModeInput, 'artifact'>): Promise<Impact> {
  await using reader = new CodeReader();
  const code = await parsed(reader, artifact.path, artifact.text);
  return {
    ...{ isCode: codeLanguageOf(artifact.path) !== undefined, components: [], named: new Map() },
    files: code === undefined ? [] : [{ ...nothingOf(artifact.path), code }],
    hasTests: false,
    unable: ['to find the users, entry points and tests of this code: there is no index'],
  };
}

function nothingOf(path: string): FileKnowledge {
  return {
    ...{ path, code: undefined, threats: [], exposures: [], isExposed: false, isWide: false },
    ...{ surfaces: [], defences: [], checks: [], commits: undefined, coChanges: [] },
  };
}

/** Its functions are called by their only name. */
function isC(path: string): boolean {
  return /^(?:c|cpp)$/.test(codeLanguageOf(path) ?? '');
}

/** The questions about one artifact, each once. */
class Gathering {
  readonly #asking: Asking;

  constructor(
    readonly ground: Ground,
    signal: AbortSignal,
  ) {
    this.#asking = new Asking(signal);
  }

  async of(artifact: Artifact): Promise<Impact> {
    await using reader = new CodeReader();
    const isCode = codeLanguageOf(artifact.path) !== undefined;
    const inTree = await this.#read(artifact.path);
    const isSame = inTree === artifact.text;
    const code = await parsed(reader, artifact.path, inTree);
    const subject = isCode
      ? await subjectOfSource(artifact, code, this.#asking.ask, this.ground)
      : await subjectOfDocument(artifact, this.ground, this.#asking.ask);
    const files = await this.#files(reader, subject, isCode ? artifact : undefined);
    const reached = await this.#reaches(subject, isCode);
    await this.#learn(files);
    const components = this.#components(subject, files, reached, { isCode, isSame });
    await this.#uses(components);
    await this.#namesakes(components);
    const paths = await this.ground.paths();
    return {
      ...{ isCode, components, files, named: subject.named },
      hasTests: paths.some((path) => testPath.test(path)),
      unable: [...subject.unable, ...this.#unable(subject, isCode && !isSame)],
    };
  }

  async #read(path: string): Promise<string | undefined> {
    return this.#asking.isCut() ? undefined : await this.ground.read(path);
  }

  #unable(subject: Subject, isOther: boolean): string[] {
    const said: string[] = [];
    const files = filesOf(subject);
    if (files.length > impactLimits.files)
      said.push(
        `to read ${files.length - impactLimits.files} of ${files.length} files that it is about`,
      );
    if (isOther)
      said.push(
        'to hold all of it to the index: the text differs from the file of the tree, and what the index says is of that file',
      );
    return [...said, ...this.#asking.unable()];
  }

  async #files(
    reader: CodeReader,
    subject: Subject,
    artifact: { path: string; text: string } | undefined,
  ): Promise<FileKnowledge[]> {
    const files: FileKnowledge[] = [];
    for (const path of filesOf(subject).slice(0, impactLimits.files)) {
      const text = artifact?.path === path ? artifact.text : await this.#read(path);
      files.push({ ...nothingOf(path), code: await parsed(reader, path, text) });
    }
    return files;
  }

  /** What overlays say of the files, after what is cheaper has been asked. */
  async #learn(files: readonly FileKnowledge[]): Promise<void> {
    for (const file of files) Object.assign(file, await this.#security(file.path));
    const few = files.slice(0, impactLimits.overlayFiles);
    for (const file of few) Object.assign(file, await this.#overlays(file.path));
  }

  async #security(path: string): Promise<Partial<FileKnowledge>> {
    const answer = await this.#asking.ask((options) =>
      this.ground.analyses.securityBlastRadius({ symbol: path }, options),
    );
    if (answer === undefined) return {};
    const { exposed, wide, data_exposure } = answer.risk_assessment;
    const threats = answer.security_threats.threats.filter((each) => each.file_path === path);
    return { threats, exposures: data_exposure, isExposed: exposed, isWide: wide };
  }

  async #overlays(path: string): Promise<Partial<FileKnowledge>> {
    const quoted = `path="${path.replaceAll('"', '\\"')}"`;
    const security = await this.#facts(`O2[${quoted}]`, path);
    const history = await this.#facts(`O3[rule=history, ${quoted}]`, path);
    return {
      surfaces: security.filter(({ rule }) => rule.startsWith('surface-')),
      defences: security.filter(({ rule }) => protects.has(rule)),
      checks: await this.#facts(`O6[${quoted}]`, path),
      commits: commitsIn(history),
      coChanges: await this.#facts(`O3[rule=co-change, ${quoted}]`, path),
    };
  }

  /** Items of the file, each once, in order of the text. */
  async #facts(expression: string, path: string): Promise<Fact[]> {
    const answer = await this.#asking.ask((options) =>
      this.ground.analyses.algebra({ expression, limit: 500 }, options),
    );
    const facts = new Map<string, Fact>();
    for (const { overlay, rule, file_path, line, text } of answer?.anchors.flatMap(
      ({ items }) => items,
    ) ?? [])
      if (file_path === path)
        facts.set(`${rule} ${line} ${text}`, { overlay, rule, path, line, text });
    return [...facts.values()].sort((one, other) => one.line - other.line);
  }

  /** By `path:line`, or by the path of a file. */
  async #reaches(subject: Subject, isCode: boolean): Promise<Map<string, Reach>> {
    const reached = new Map<string, Reach>();
    const definitions = subject.definitions.slice(0, impactLimits.components);
    const files = isCode
      ? []
      : subject.files.slice(0, impactLimits.components - definitions.length);
    for (const { file_path, line } of definitions) {
      const place = `${file_path}:${line}`;
      const reach = await this.#reach(place, true);
      if (reach !== undefined) reached.set(place, reach);
    }
    for (const path of files) {
      const reach = await this.#reach(path, false);
      if (reach !== undefined) reached.set(path, reach);
    }
    return reached;
  }

  /** Of what is used everywhere only the direct users are counted: it is far-reaching as it is. */
  async #reach(symbol: string, isSymbol: boolean): Promise<Reach | undefined> {
    const request = { symbol, max_depth: 1, direction: 'up' as const };
    const near = await this.#asking.ask((options) =>
      this.ground.analyses.blastRadius(request, options),
    );
    if (near === undefined) return undefined;
    if (near.metrics.direct_consumers > impactLimits.wide) return reachOf(near, isSymbol, true);
    const far = await this.#asking.ask((options) =>
      this.ground.analyses.blastRadius({ ...request, max_depth: impactLimits.depth }, options),
    );
    return reachOf(far ?? near, isSymbol, far === undefined);
  }

  #components(
    subject: Subject,
    files: readonly FileKnowledge[],
    reached: ReadonlyMap<string, Reach>,
    { isCode, isSame }: { isCode: boolean; isSame: boolean },
  ): Component[] {
    const of = (path: string): FileKnowledge | undefined =>
      files.find((each) => each.path === path);
    const definitions = subject.definitions.slice(0, impactLimits.components);
    const functions = definitions.flatMap((definition): Component[] => {
      const { file_path: path, symbol: name, kind } = definition;
      const place = isCode && !isSame ? movedTo(of(path)?.code, definition) : definition;
      if (place === undefined) return [];
      const { line, line_end } = place;
      return [
        {
          ...{ id: `${path}#${name}`, name, kind, path, line, line_end },
          reach: reached.get(`${path}:${definition.line}`),
          ...factsIn(of(path), definition, place),
          ...{ ignoring: [], using: 0 },
        },
      ];
    });
    ofInnermost(functions);
    if (isCode) return functions;
    const room = impactLimits.components - functions.length;
    const wholes = subject.files.slice(0, room).map((path): Component => {
      const line_end = of(path)?.code?.lines.length ?? 1;
      return {
        ...{ id: path, name: path, kind: 'file', path, line: 1, line_end },
        reach: reached.get(path),
        ...factsIn(of(path), { line: 1, line_end }),
        ...{ branches: undefined, ignoring: [], using: 0 },
      };
    });
    return [...functions, ...wholes];
  }

  /** Who looks at the result: asked of those only that enough others call. */
  async #uses(components: readonly Component[]): Promise<void> {
    for (const each of components) {
      if ((each.reach?.direct ?? 0) < impactLimits.usersMin) continue;
      const place = `${each.path}:${each.line}`;
      const callers = await this.#asking.ask((options) =>
        this.ground.questions.callers({ symbol: place }, options),
      );
      Object.assign(each, usesOf(callers?.callers ?? []));
    }
  }

  /**
   * A call of a member names it and not what it is called on: where no user or no test was found, those calls are looked
   * for that may be of it. C calls its functions by their only name.
   */
  async #namesakes(components: readonly Component[]): Promise<void> {
    for (const { reach, name, kind, path } of components) {
      if (reach === undefined || kind === 'file' || name === 'constructor') continue;
      if (isC(path) || (reach.tests.length > 0 && reach.consumers > 0)) continue;
      const answer = await this.#asking.ask((options) =>
        this.ground.questions.callers({ symbol: name }, options),
      );
      reach.alike = alikeOf(answer?.callers ?? [], reach);
    }
  }
}
