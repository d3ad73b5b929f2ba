import { Module } from '@nestjs/common';
import { RoomsModule } from '@relayger/rooms';
import { FilesService } from './files.service.js';

@Module({
  imports: [RoomsModule],
  providers: [FilesService],
  exports: [FilesService],
})
export class FilesModule {}
