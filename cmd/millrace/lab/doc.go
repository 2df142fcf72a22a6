// Package lab measures steps of the data path: before against after.
//
//	Experiment.Build -> groups of variants -> method.Plan.Run -> rounds
//	   traffic -> device -+-> queue -> GRO -> application -> Free, send queue
//	        timed apart --+   \____ timed: the driver _________________/
//	rounds -> result.Judge -> claims -> table, JSON, benchstat, Markdown, page
//
// An experiment is one file, or a few with its name in front: its question, its
// variants, what the public work claims and the figure beside it. A measurement
// opens device and queues afresh on memory that the experiment lends, warms
// them up with one lap and times a second. The thread of the command owns all
// of it.
//
// The trap: an experiment measures memory only if its working set does not fit
// a cache, pages come in the order of a pool that has been in use, and the
// device writes past the caches. Each note of a result says how that stands.
package lab
