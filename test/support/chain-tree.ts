import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { openShards } from '../../src/pgc/serve/open-shards.js';
import type { Shard } from '../../src/pgc/serve/shard.js';

/** A small kernel: a driver maps its buffers through a header and a mapping layer that ends in the allocator. */
export const chainFiles: Record<string, string> = {
  'drivers/nic/nic_main.c': `#include <linux/dma.h>
#include "nic.h"

/**
 * nic_setup_rx_ring - allocate the descriptor ring for received frames
 * @nic: the adapter
 *
 * Returns 0 on success.
 */
int nic_setup_rx_ring(struct nic *nic)
{
	nic_log("setup");
	nic->ring = dma_alloc_ring(nic->dev, 4096);
	return nic->ring ? 0 : -1;
}

/** nic_open - called when the interface is brought up */
int nic_open(struct nic *nic)
{
	nic_log("open");
	return nic_setup_rx_ring(nic);
}

static void nic_reset(struct nic *nic)
{
	nic_log("reset");
	nic->ops->stop(nic);
}
`,
  'drivers/nic/nic.h': `struct nic { void *dev; void *ring; const struct nic_ops *ops; };
int nic_open(struct nic *nic);
`,
  'drivers/nic/nic_log.c': `#include "nic.h"
/** nic_log - write one line to the log */
void nic_log(const char *text) { print_line(text); }
`,
  'include/linux/dma.h': `void *dma_alloc_mapped(void *dev, int size);
#ifndef HAS_DMA
static inline void *dma_alloc_mapped(void *dev, int size) { return 0; }
#endif
/* Allocates a ring that the device can read. */
static inline void *dma_alloc_ring(void *dev, int size)
{
	return dma_alloc_mapped(dev, size);
}
`,
  'include/linux/pages.h': `void *alloc_pages_near(void *dev, int size);
`,
  'kernel/dma/mapping.c': `#include <linux/dma.h>
#include <linux/pages.h>

static void *dma_pool_get(void *dev, int size)
{
	return alloc_pages_near(dev, size);
}

/** dma_alloc_mapped - allocate memory that a device may access */
void *dma_alloc_mapped(void *dev, int size)
{
	return dma_pool_get(dev, size);
}
`,
  'mm/pages.c': `#include <linux/pages.h>
/** alloc_pages_near - take free pages close to a device */
void *alloc_pages_near(void *dev, int size)
{
	return take_free_list(size);
}
static void *take_free_list(int size) { return 0; }
`,
  'mm/other.c': `static void *dma_pool_get(void) { return 0; }
`,
};

export interface ChainTree extends AsyncDisposable {
  root: string;
  /** drivers, include, kernel, mm: in this order. */
  shards: Shard[];
}

/** Writes the files, indexes them as four shards and opens them. */
export async function chainTree(files: Record<string, string> = chainFiles): Promise<ChainTree> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sigma-chain-'));
  const root = path.join(folder, 'tree');
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  const home = path.join(folder, 'home');
  const aliases = ['drivers', 'include', 'kernel', 'mm'];
  await indexFolder({
    root,
    home,
    jobs: 0,
    shards: { shards: aliases.map((alias) => ({ alias, paths: [alias] })) },
  });
  const opened = await openShards(root, home);
  return {
    root,
    shards: opened.shards,
    async [Symbol.asyncDispose]() {
      opened[Symbol.dispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
