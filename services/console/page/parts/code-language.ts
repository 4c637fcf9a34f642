const byExtension: Record<string, string> = {
  ...{ c: 'c', h: 'c', cc: 'cpp', cpp: 'cpp', cxx: 'cpp', hh: 'cpp', hpp: 'cpp', hxx: 'cpp' },
  ...{ inl: 'cpp', ipp: 'cpp', tpp: 'cpp' },
  ...{ ts: 'typescript', mts: 'typescript', cts: 'typescript', tsx: 'tsx', jsx: 'tsx' },
  ...{ js: 'javascript', mjs: 'javascript', cjs: 'javascript', json: 'json' },
  ...{ py: 'python', pyi: 'python', go: 'go', rs: 'rust', java: 'java', proto: 'proto' },
  ...{ md: 'markdown', markdown: 'markdown', mk: 'make', sh: 'bash', bash: 'bash' },
  ...{ yml: 'yaml', yaml: 'yaml', toml: 'toml', ini: 'ini', cfg: 'ini' },
  ...{ service: 'ini', socket: 'ini', timer: 'ini' },
};

/** The language in which a file is highlighted, by its name. */
export function codeLanguage(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^(?:GNU)?[Mm]akefile|^Kbuild/.test(name)) return 'make';
  if (/^(?:Docker|Container)file/.test(name)) return 'dockerfile';
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return name.includes('.') && Object.hasOwn(byExtension, extension)
    ? byExtension[extension]
    : undefined;
}
