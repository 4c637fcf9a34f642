import type { FolderPlan } from '../pgc/plan/plan-folder.js';
import { table } from './terminal.js';

/** Paths of a shard in the table; --tree and --json have them all. */
const pathsShown = 8;

export function renderPlan(plan: FolderPlan): string {
  const rows = plan.shards.map(({ alias, files, lines, paths }) => {
    const more = paths.length - pathsShown;
    const shown = paths.slice(0, pathsShown).join(' ');
    return [alias, String(files), String(lines), more > 0 ? `${shown} and ${more} more` : shown];
  });
  return [table([['SHARD', 'FILES', 'LINES', 'PATHS'], ...rows]), '', ...totals(plan)].join('\n');
}

/** Each path that a plan names, below the nearest one above it. */
export function renderPlanTree(plan: FolderPlan): string {
  const above: string[] = [];
  const rows = plan.folders.map(({ path, alias, files, lines }) => {
    while (above.length > 0 && !isBelow(path, above.at(-1) ?? '')) above.pop();
    const [parent] = above.slice(-1);
    const name = parent === undefined || parent === '.' ? path : path.slice(parent.length + 1);
    const row = [`${'  '.repeat(above.length)}${name}`, alias, String(files), String(lines)];
    above.push(path);
    return row;
  });
  return [table([['FOLDER', 'SHARD', 'FILES', 'LINES'], ...rows]), '', ...totals(plan)].join('\n');
}

function isBelow(path: string, folder: string): boolean {
  return folder === '.' || path.startsWith(`${folder}/`);
}

function totals({ shards, files_total, lines_total, left_out, mode }: FolderPlan): string[] {
  const lines = shards.map((each) => each.lines).sort((a, b) => a - b);
  const middle = lines[Math.floor(lines.length / 2)] ?? 0;
  return [
    `${shards.length} shards (${mode}), ${files_total} files, ${lines_total} lines; ` +
      `a shard has ${lines[0] ?? 0} to ${lines.at(-1) ?? 0} lines, half of them at most ${middle}`,
    ...(left_out.files > 0
      ? [`no shard has ${left_out.files} files with ${left_out.lines} lines`]
      : []),
  ];
}
