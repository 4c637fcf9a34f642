import { memoryHarness } from '../support/networks.js';
import { transportContract } from './transport.js';

transportContract('memory', memoryHarness);
