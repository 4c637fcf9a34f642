import path from 'node:path/posix';
import { reachedRake } from './build-files.js';
import { word } from './examination.js';
import {
  script,
  within,
  shell,
  operandsOf,
  firstOf,
  namedTask,
  jsonOf,
  yamlOf,
  record,
  objectAt,
  textAt,
  listedMax,
  type Told,
} from './tree-told.js';

/** Lists of named tasks, and what packages run when they are made or installed. */

export async function rake(told: Told): Promise<void> {
  const found = await firstOf(['Rakefile', 'rakefile', 'Rakefile.rb'], told);
  if (found === undefined) return;
  const reached = reachedRake(
    found.text,
    operandsOf(told).filter((each) => !each.includes('=')),
  );
  await told.unwrapper.interpreting.known(reached ?? found.text, 'ruby', within(told, found.file));
  for (const [, text = ''] of (reached ?? '').matchAll(/\bsh\s*\(?\s*["']([^"'\n]+)["']/g))
    await shell(text, told, found.file);
}

/** Scripts of composer.json: those that are named, and those that come along with what it does. */
export async function composer(told: Told): Promise<void> {
  const [first = '', second] = operandsOf(told);
  const name =
    first === 'run' || first === 'run-script' || first === 'exec' ? (second ?? '') : first;
  const source = await told.unwrapper.exam.read(word('composer.json'), told.spot);
  if (source === undefined && first.startsWith('run')) namedTask(name, told);
  if (source === undefined || told.given.flags.has('--no-scripts')) return;
  const lists = objectAt(jsonOf(source), 'scripts');
  if (first.startsWith('run') && !Object.hasOwn(lists, name)) namedTask(name, told);
  const events = [
    'install',
    'update',
    'require',
    'remove',
    'dump-autoload',
    'create-project',
  ].includes(name)
    ? Object.keys(lists).filter((each) => /^(?:pre|post)-/.test(each))
    : [`pre-${name}-cmd`, name, `post-${name}-cmd`];
  const done = new Set<string>();
  const queue = events;
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    if (done.has(event) || done.size >= listedMax) continue;
    done.add(event);
    for (const line of [lists[event]].flat()) {
      if (typeof line !== 'string') continue;
      const called = /^@(?!php|composer|putenv)([\w:-]+)/.exec(line)?.[1];
      if (called !== undefined) queue.push(called);
      else if (!/^[\w\\]+::\w+$|^@putenv/.test(line))
        await shell(line.replace(/^@/, ''), told, 'composer.json');
    }
  }
}

export async function taskfile(told: Told): Promise<void> {
  const found = await firstOf(
    ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'Taskfile.dist.yml'],
    told,
  );
  if (found === undefined || told.given.flags.has('--dry') || told.given.flags.has('-n')) return;
  const content = yamlOf(found.text);
  const tasks = objectAt(content, 'tasks');
  const vars = objectAt(content, 'vars');
  const goals = operandsOf(told).filter((each) => !each.includes('='));
  const queue = goals.length > 0 ? goals : ['default'];
  const done = new Set<string>();
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    if (done.has(name) || done.size >= listedMax) continue;
    done.add(name);
    const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
    const body = typeof task === 'string' || Array.isArray(task) ? { cmds: task } : record(task);
    for (const need of [body['deps']].flat())
      queue.push(typeof need === 'string' ? need : textAt(need, 'task'));
    for (const step of [body['cmds'], body['cmd'], body['status'], body['preconditions']].flat()) {
      const own = typeof step === 'string' ? { cmd: step } : record(step);
      if (typeof own['task'] === 'string') queue.push(own['task']);
      const line = own['cmd'] ?? own['defer'] ?? own['sh'];
      if (typeof line === 'string')
        await shell(templated(line, { ...vars, ...objectAt(body, 'vars') }), told, found.file);
    }
  }
}

function templated(line: string, vars: Record<string, unknown>): string {
  return line.replace(/\{\{\s*\.(\w+)\s*\}\}|\{\{[^{}]*\}\}/g, (_, name?: string) => {
    const value = name === undefined ? undefined : vars[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '$UNKNOWN';
  });
}

export async function tox(told: Told): Promise<void> {
  const found = await firstOf(['tox.ini'], told);
  if (found === undefined) return;
  const wanted = (told.given.flags.get('-e') ?? []).flatMap((each) => each.split(','));
  for (const [, name = '', body = ''] of found.text.matchAll(
    /^\[testenv(?::([^\]]+))?\]\n((?:(?!^\[)[^\n]*\n?)*)/gm,
  )) {
    if (name !== '' && wanted.length > 0 && !wanted.includes(name)) continue;
    for (const [, lines = ''] of body.matchAll(
      /^commands(?:_pre|_post)?\s*=([^\n]*\n?(?:[ \t]+[^\n]*\n?)*)/gm,
    ))
      for (const line of lines.split('\n').map((each) => each.trim().replace(/^-\s*/, '')))
        if (line !== '' && !line.startsWith('#'))
          await shell(
            line.replace(/\{posargs(?::([^}]*))?\}/g, '$1').replace(/\{[^}]*\}/g, '$UNKNOWN'),
            told,
            found.file,
          );
  }
}

/** `mix.exs` runs with every task; its aliases are commands of mix, of a shell, or functions. */
export async function mix(told: Told): Promise<void> {
  const source = await told.unwrapper.exam.read(word('mix.exs'), told.spot);
  const [first = ''] = operandsOf(told);
  if (source === undefined) return;
  await told.unwrapper.interpreting.known(source, 'elixir', within(told, 'mix.exs'));
  const key = first.replace(/[^\w.]/g, '').replaceAll('.', '\\.');
  const list = new RegExp(`(?:^|[\\s,[])"?${key}"?:\\s*(?:\\[([^\\]]*)\\]|("[^"]*"))`, 'm').exec(
    source,
  );
  for (const [, line = ''] of (list?.[1] ?? list?.[2] ?? '').matchAll(/"([^"]*)"/g))
    if (line.split(' ')[0] !== first)
      await shell(line.startsWith('cmd ') ? line.slice(4) : `mix ${line}`, told, 'mix.exs');
}

/** `pip install .` runs `setup.py`, or the build that lies in the tree. */
export async function python(told: Told): Promise<void> {
  const operands = operandsOf(told);
  const [first = '', second] = operands;
  const isBuild = told.program === 'build' || (told.program === 'uv' && first === 'build');
  const isInstall =
    ['install', 'wheel', 'sync'].includes(first) || (first === 'pip' && second === 'install');
  const editable = ['-e', '--editable'].flatMap((flag) => told.given.flags.get(flag) ?? []);
  const isEditable = told.given.flags.has('-e') || told.given.flags.has('--editable');
  const named = [...operands.slice(1), ...editable].filter((each) =>
    /^\.{1,2}(?:\/|\[|$)|^\.\//.test(each),
  );
  if (!isBuild && !(isInstall && (named.length > 0 || isEditable || first === 'sync'))) return;
  for (const each of named.length > 0 ? named : ['.']) {
    const folder = each.replace(/\[.*$/, '') || '.';
    await script(path.join(folder, 'setup.py'), 'python', told);
    const project = await told.unwrapper.exam.read(
      word(path.join(folder, 'pyproject.toml')),
      told.spot,
    );
    const backend = /^\s*backend-path\s*=\s*\[\s*"([^"]+)"/m.exec(project ?? '')?.[1];
    const name = /^\s*build-backend\s*=\s*"([^":]+)/m.exec(project ?? '')?.[1];
    if (backend !== undefined && name !== undefined)
      await script(path.join(folder, backend, `${name.replaceAll('.', '/')}.py`), 'python', told);
  }
}
