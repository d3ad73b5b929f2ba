import { Module } from '@nestjs/common';
import { RoomsModule } from '@relayger/rooms';
import { FilesController } from './files.controller.js';
import { FilesSweep } from './files.jobs.js';
import { FilesService } from './files.service.js';
import { Transfers } from './transfers.js';
import { UploadsService } from './uploads.service.js';

@Module({
  imports: [RoomsModule],
  controllers: [FilesController],
  providers: [FilesService, UploadsService, FilesSweep, Transfers],
  exports: [FilesService],
})
export class FilesModule {}
