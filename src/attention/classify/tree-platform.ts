import { cut, word } from './examination.js';
import {
  argv,
  listed,
  objectAt,
  operandsOf,
  partsMax,
  record,
  shell,
  within,
  yamlOf,
  type Told,
} from './tree-told.js';

/** What git, Terraform and Compose run or open by files of the tree. */

const hooksOf: Record<string, string[]> = {
  commit: ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'],
  merge: ['pre-merge-commit', 'post-merge'],
  pull: ['post-merge'],
  checkout: ['post-checkout'],
  switch: ['post-checkout'],
  am: ['applypatch-msg', 'pre-applypatch', 'post-applypatch'],
};

/** Hooks that lie in the tree run with what git does. */
export async function hooks(told: Told): Promise<void> {
  const [first = ''] = operandsOf(told);
  const names = Object.hasOwn(hooksOf, first) ? (hooksOf[first] ?? []) : [];
  for (const name of names)
    for (const file of [`.husky/${name}`, `.githooks/${name}`, `.git/hooks/${name}`]) {
      const text = await told.unwrapper.exam.read(word(file), told.spot);
      if (text !== undefined)
        await told.unwrapper.interpreting.text(text, [], undefined, within(told, file));
    }
}

/** Programs that a plan asks: `data "external"`. */
export async function terraform(told: Told): Promise<void> {
  const [first = ''] = operandsOf(told);
  if (!/^(?:plan|apply|refresh|console|test|destroy)$/.test(first)) return;
  const folder = told.given.flags.get('-chdir')?.[0] ?? '.';
  for (const file of (await listed(folder, told))
    .filter((each) => each.endsWith('.tf'))
    .slice(0, partsMax)) {
    const source = (await told.unwrapper.exam.read(word(file), told.spot)) ?? '';
    for (const [, list = ''] of source.matchAll(
      /\bdata\s+"external"[^{]{0,80}\{[^}]{0,400}?\bprogram\s*=\s*\[([^\]]*)\]/g,
    )) {
      const words = [...list.matchAll(/"((?:\\.|[^"\\])*)"/g)].map((each) =>
        (each[1] ?? '').replace(/\$\{path\.(?:module|root|cwd)\}/g, folder),
      );
      if (words.length > 0) await argv(words, told, file);
    }
  }
}

/** A compose file that opens the machine to what it starts. */
export async function compose(told: Told): Promise<void> {
  const operands = operandsOf(told);
  const words = told.program === 'docker' ? operands.slice(1) : operands;
  if (
    (told.program === 'docker' && operands[0] !== 'compose') ||
    !['up', 'run', 'create', 'start'].includes(words[0] ?? '')
  )
    return;
  const named = ['-f', '--file']
    .flatMap((flag) => told.given.flags.get(flag) ?? [])
    .filter((each) => each !== '');
  const files =
    named.length > 0
      ? named
      : ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'];
  for (const file of files) {
    const source = await told.unwrapper.exam.read(word(file), told.spot);
    if (source !== undefined && ['up', 'run'].includes(words[0] ?? ''))
      await started(source, words.slice(1), file, told);
    const line =
      source === undefined ? undefined : opensMachine.exec(source.replace(/^\s*#.*$/gm, ''))?.[0];
    if (line === undefined) continue;
    const spot = within(told, file);
    told.unwrapper.exam.found({
      ...{
        signal: 'SecurityBoundary',
        rule: 'container-escape',
        words: [word(cut(line.trim(), 200))],
        spot,
      },
      says: 'a container that reaches the machine',
    });
  }
}

/** Images that are a command line: what they are told they do. */
const programOf: Readonly<Record<string, string>> = {
  ...{
    'aws-cli': 'aws',
    kubectl: 'kubectl',
    terraform: 'terraform',
    helm: 'helm',
    alpine_git: 'git',
  },
  ...{ 'cloud-sdk': 'gcloud', 'google-cloud-cli': 'gcloud', 'azure-cli': 'az', rclone: 'rclone' },
  ...{ mc: 'mc', flyway: 'flyway', liquibase: 'liquibase', doctl: 'doctl', psql: 'psql' },
};

/** What a service is told to run, where that is a shell or one of those images: others do what their image does. */
async function started(
  source: string,
  asked: readonly string[],
  file: string,
  told: Told,
): Promise<void> {
  const services = objectAt(yamlOf(source), 'services');
  for (const [name, value] of Object.entries(services).slice(0, partsMax)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const { image, command, entrypoint } = record(value);
    const base = typeof image === 'string' ? (/([^/:@]+)(?:[:@].*)?$/.exec(image)?.[1] ?? '') : '';
    const program = Object.hasOwn(programOf, base) ? (programOf[base] ?? '') : '';
    const parts = [entrypoint ?? program, command ?? ''];
    const text = parts.map(textOf).join(' ').trim();
    if (program !== '' || /^(?:\/bin\/)?(?:ba|da|a|z)?sh\b/.test(text.replace(/^'/, '')))
      await shell(text, told, file);
  }
}

/** A line, or a list whose words are as they are. */
function textOf(value: unknown): string {
  if (!Array.isArray(value)) return typeof value === 'string' ? value : '';
  return value.map((each) => `'${String(each).replaceAll("'", `'\\''`)}'`).join(' ');
}

const opensMachine =
  /^\s*privileged:\s*true|docker\.sock|^\s*-\s*["']?(?:\/|~|\$\{?HOME\}?|\/(?:etc|root|home|var|boot|proc|sys)[^:\n]*):\/|^\s*(?:pid|ipc|network_mode|userns_mode):\s*["']?host|^\s*cap_add:|^\s*source:\s*["']?\/["']?\s*$/m;
