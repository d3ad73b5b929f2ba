import { Controller } from '@nestjs/common';
import { Caller, Operation, type Principal, Query } from '@relayger/kernel';
import { type Message, searchMessages } from '@relayger/protocol';
import { type SearchQuery, SearchService } from './search.service.js';

@Controller()
export class SearchController {
  constructor(private readonly searches: SearchService) {}

  @Operation(searchMessages)
  search(@Caller() caller: Principal, @Query() query: SearchQuery): Promise<Message[]> {
    return this.searches.search(caller, query);
  }
}
