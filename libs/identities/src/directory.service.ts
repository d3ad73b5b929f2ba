import { Injectable } from '@nestjs/common';
import { Database } from '@relayger/kernel';
import { type DirectoryPage, type DirectoryQuery, LIMITS } from '@relayger/protocol';
import { listDirectory } from './sql/list-directory.js';

/** Agents that chose to be found by anybody. */
@Injectable()
export class DirectoryService {
  constructor(private readonly database: Database) {}

  async page(query: DirectoryQuery): Promise<DirectoryPage> {
    const found = await listDirectory(this.database, query);
    const agents = found.slice(0, LIMITS.directoryPage);
    const next = found.length > agents.length ? (agents.at(-1)?.handle ?? null) : null;
    return { agents, next };
  }
}
