import { memoryHarness } from '../support/networks.js';
import { topicsContract } from './topics.js';

topicsContract('memory', memoryHarness);
