import path from 'node:path/posix';
import {
  builtFolder,
  gradleAsks,
  reachedAnt,
  reachedGradle,
  reachedMaven,
  xmlDeeds,
} from './build-files.js';
import { cut, word } from './examination.js';
import { bareScript } from './script-text.js';
import {
  within,
  shell,
  argv,
  operandsOf,
  listed,
  firstOf,
  namedTask,
  partsMax,
  type Told,
} from './tree-told.js';

/** Project files of the JVM and of .NET: what their goals and steps run. */

export async function gradle(told: Told): Promise<void> {
  const { given, unwrapper } = told;
  const { exam } = unwrapper;
  const value = (...flags: string[]): string[] =>
    flags.flatMap((flag) => given.flags.get(flag) ?? []);
  const isDry = given.flags.has('-m') || given.flags.has('--dry-run');
  const asked = operandsOf(told);
  const goals = isDry ? [] : asked.map((each) => each.split(':').at(-1) ?? each);
  const folder = value('-p', '--project-dir')[0] ?? '.';
  const settings = await firstOf(
    ['settings.gradle', 'settings.gradle.kts'].map((each) => path.join(folder, each)),
    told,
  );
  const included = [...(settings?.text ?? '').matchAll(/["']:?([\w:-]+)["']/g)].map((each) =>
    (each[1] ?? '').replaceAll(':', '/'),
  );
  const named = asked.flatMap((each) =>
    each.includes(':') ? [each.split(':').slice(0, -1).join('/').replace(/^\//, '')] : [],
  );
  const isWhole = asked.some((each) => !each.includes(':'));
  const folders = [
    ...new Set(
      ['.', 'buildSrc', ...named, ...(isWhole ? included : [])].filter((each) => each !== ''),
    ),
  ];
  const found: { text: string; file: string }[] = settings === undefined ? [] : [settings];
  for (const each of folders.slice(0, partsMax)) {
    const build = await firstOf(
      ['build.gradle', 'build.gradle.kts'].map((name) => path.join(folder, each, name)),
      told,
    );
    if (build !== undefined) found.push(build);
  }
  for (const file of value('-b', '--build-file', '-I', '--init-script', '-c', '--settings-file')) {
    const text = await exam.read(word(file), told.spot);
    if (text === undefined) await unwrapper.opaqueOrLater(word(file), told.words, told.spot);
    else found.push({ text, file });
  }
  const known = new Set<string>();
  const wired = new Set(goals);
  for (const { text, file } of found) await gradleFile(text, file, { goals, known, wired }, told);
  for (const goal of wired) if (!known.has(goal) && !gradleAsks.test(goal)) namedTask(goal, told);
}

async function gradleFile(
  text: string,
  file: string,
  { goals, known, wired }: { goals: readonly string[]; known: Set<string>; wired: Set<string> },
  told: Told,
): Promise<void> {
  const { code, bare } = bareScript(text, 'jvm');
  const reached = reachedGradle(code, bare, goals);
  for (const name of reached.names) known.add(name);
  for (const name of reached.wired) wired.add(name);
  await told.unwrapper.interpreting.known(reached.code, 'jvm', within(told, file));
  for (const [, applied = ''] of reached.code.matchAll(
    /\bapply\s*\(?\s*from\s*[:=]\s*["']([^"'\n]+)["']/g,
  )) {
    const inner = await told.unwrapper.exam.read(word(applied), told.spot);
    if (inner !== undefined && applied !== file)
      await gradleFile(inner, applied, { goals, known, wired }, told);
  }
}

export async function maven(told: Told): Promise<void> {
  const goals = operandsOf(told);
  const profiles = [...told.given.flags].flatMap(([flag, values]) =>
    /^-P./.test(flag)
      ? [flag.slice(2)]
      : flag === '-P' || flag === '--activate-profiles'
        ? values
        : [],
  );
  const file = ['-f', '--file'].flatMap((flag) => told.given.flags.get(flag) ?? [])[0] ?? 'pom.xml';
  const source = await told.unwrapper.exam.read(word(file), told.spot);
  for (const goal of goals) if (goal.includes(':')) namedTask(goal, told);
  if (source === undefined) return;
  const text = reachedMaven(
    source,
    goals,
    profiles.flatMap((each) => each.split(',')),
  );
  await deeds(
    goals.includes('clean') ? text : text.replace(/<fileset>[\s\S]*?<\/fileset>/g, ''),
    file,
    told,
  );
}

export async function ant(told: Told): Promise<void> {
  const file =
    ['-f', '-file', '-buildfile'].flatMap((flag) => told.given.flags.get(flag) ?? [])[0] ??
    'build.xml';
  const source = await told.unwrapper.exam.read(word(file), told.spot);
  if (source === undefined) return;
  const goals = operandsOf(told);
  await deeds(reachedAnt(source, goals), file, told);
}

async function deeds(source: string, file: string, told: Told): Promise<void> {
  const { commands, shells, scripts, removes } = xmlDeeds(source);
  const spot = within(told, file);
  for (const each of commands) await argv(each, told, file);
  for (const each of shells) await shell(each.replace(/\$\(([\w.]+)\)/g, '$UNKNOWN'), told, file);
  for (const each of scripts) await told.unwrapper.interpreting.known(each, 'jvm', spot);
  for (const each of removes) {
    if (builtFolder.test(each) && !/\.\.|[,;]/.test(each)) continue;
    told.unwrapper.exam.found({
      ...{ signal: 'Irreversibility', rule: 'build-deletes', words: [word(cut(each, 200))], spot },
      says: 'a step of a build that deletes or sends',
    });
  }
}

export async function dotnet(told: Told): Promise<void> {
  const [first = '', ...rest] = operandsOf(told);
  if (!/^(?:build|test|run|publish|pack|restore|msbuild|clean|watch)$/.test(first)) return;
  const named = rest.filter((each) => /\.\w*proj$|\.targets$/.test(each));
  const project = told.given.flags.get('--project')?.[0];
  const folder =
    project !== undefined && project !== ''
      ? project
      : (rest.find((each) => /^[\w./-]+$/.test(each)) ?? '.');
  const found =
    named.length > 0 ? [] : (await listed(folder, told)).filter((each) => /\.\w*proj$/.test(each));
  for (const file of [...named, ...found, 'Directory.Build.targets', 'Directory.Build.props'].slice(
    0,
    partsMax,
  )) {
    const source = await told.unwrapper.exam.read(word(file), told.spot);
    if (source !== undefined) await deeds(source.replace(/<!--[\s\S]*?-->/g, ''), file, told);
  }
}
