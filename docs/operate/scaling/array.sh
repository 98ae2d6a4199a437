#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One part of a base pack, as a task of a Slurm array; N is the number of parts:
#
#     sbatch --array=1-N array.sh BASE N FOLDER [OPTIONS of kiln build...]
#
# Writes FOLDER/I.kiln, for kiln pack merge. A task in which something failed is tried twice again.
#SBATCH --job-name=kiln
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.txt
set -eu
[ $# -ge 3 ] || { echo "usage: array.sh BASE N FOLDER [OPTIONS...]" >&2; exit 2; }
base=$1 count=$2 folder=$3
shift 3
mkdir -p "$folder"

# Not of SLURM_ARRAY_TASK_COUNT parts: --array=3,7 does two of N again.
code=0
kiln build "$base" --shard "$SLURM_ARRAY_TASK_ID/$count" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
  -o "$folder/$SLURM_ARRAY_TASK_ID.kiln" "$@" || code=$?
if [ "$code" -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 2 ]; then
  # Not SLURM_JOB_ID: one task's is the array's own, by which all of its tasks would start again.
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$code"
