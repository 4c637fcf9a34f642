import { cpus, loadavg, release, totalmem } from 'node:os';
import { cscopeVersion, packageVersion } from './kernel-tree.mjs';
import { megabytes, table } from './figures.mjs';
import { runSigma } from './process.mjs';

/** On what, and of what, the figures are. */
export async function describeMachine({ root, home }) {
  const processors = cpus();
  const figures = {
    date: new Date().toISOString(),
    node: process.version,
    kernel: release(),
    cpu: processors[0]?.model.trim() ?? '',
    cores: processors.length,
    memory_bytes: totalmem(),
    load_average: loadavg(),
    sigma: (await runSigma(['--version'], { home, timeoutMs: 20_000 })).stdout.trim(),
    cscope: await cscopeVersion(),
    linux_source: await packageVersion('linux-source-6.1'),
    tree: root,
  };
  const text = table([
    ['MACHINE', ''],
    ['node', figures.node],
    ['cpu', `${figures.cpu}, ${figures.cores} cores`],
    ['memory', megabytes(figures.memory_bytes)],
    ['load', figures.load_average.map((each) => each.toFixed(2)).join(' ')],
    ['sigma', figures.sigma],
    ['cscope', figures.cscope],
    ['source', `${figures.tree} (linux-source-6.1 ${figures.linux_source})`],
  ]);
  return { figures, text };
}
